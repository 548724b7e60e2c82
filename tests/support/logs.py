"""What a terminal has of a run of fio: the command line, and its output."""

COMMAND = """\
root@pve1:~# fio --name=write_iops --filename=/dev/rbd0 --size=10G \\
--time_based --runtime=60s --ramp_time=2s --ioengine=libaio --direct=1 --numjobs=8 \\
--verify=0 --bs=4K --iodepth=64 --rw=randwrite --group_reporting=1
"""
WRITES = """\
write_iops: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64
...
fio-3.33
Starting 8 processes
Jobs: 8 (f=8): [w(8)][100.0%][w=60.0MiB/s][w=15.4k IOPS][eta 00m:00s]
write_iops: (groupid=0, jobs=8): err= 0: pid=1714909: Mon Apr  7 22:13:00 2025
  write: IOPS=16.7k, BW=65.4MiB/s (68.6MB/s)(3927MiB/60022msec); 0 zone resets
    slat (nsec): min=1865, max=522787, avg=7080.80, stdev=3860.62
    clat (usec): min=1451, max=175353, avg=30579.11, stdev=18591.01
     lat (usec): min=1458, max=175359, avg=30586.19, stdev=18591.01
    clat percentiles (msec):
     |  1.00th=[    4],  5.00th=[    7], 10.00th=[    9], 20.00th=[   12],
     | 30.00th=[   16], 40.00th=[   22], 50.00th=[   31], 60.00th=[   37],
     | 70.00th=[   42], 80.00th=[   47], 90.00th=[   55], 95.00th=[   62],
     | 99.00th=[   73], 99.50th=[   80], 99.90th=[  127], 99.95th=[  138],
     | 99.99th=[  157]
   bw (  KiB/s): min=52545, max=76760, per=100.00%, avg=67030.11, stdev=551.90, samples=960
   iops        : min=13135, max=19190, avg=16756.67, stdev=138.01, samples=960
  cpu          : usr=1.11%, sys=2.05%, ctx=878405, majf=0, minf=607
     issued rwts: total=0,1004687,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
  WRITE: bw=65.4MiB/s (68.6MB/s), 65.4MiB/s-65.4MiB/s (68.6MB/s-68.6MB/s), io=3927MiB (4117MB), run=60022-60022msec

Disk stats (read/write):
  rbd0: ios=0/1032448, merge=0/0, ticks=0/31720156, in_queue=31720157, util=99.91%
"""
"""Eight jobs of a minute, as a terminal has them."""
