"""Documents for a ticket: one content, drawn as Markdown, HTML, CSV and XLSX."""
