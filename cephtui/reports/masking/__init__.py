"""Names of hosts, pools, images and files replaced by stand-ins."""
