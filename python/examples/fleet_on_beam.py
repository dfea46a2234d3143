"""hbmview.fleet on Apache Beam: python fleet_on_beam.py LOGDIR OUT [--runner=DataflowRunner ...]

LOGDIR is a folder, gs:// or s3://; OUT the prefix of the Parquet files. The workers need the package hbmview
(--requirements_file or a container). Needs apache-beam.
"""
import sys

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

import hbmview.fleet


def main(logdir, out, *options):
    sessions = hbmview.fleet.listed(logdir)
    with beam.Pipeline(options=PipelineOptions(list(options))) as pipeline:
        rows = (
            pipeline
            | "sessions" >> beam.Create([tuple(session) for session in sessions])
            | "shared among workers" >> beam.Reshuffle()
            | "rows" >> beam.FlatMap(hbmview.fleet.rows_of)
        )
        rows | "table" >> beam.io.WriteToParquet(out, hbmview.fleet.table_schema(), file_name_suffix=".parquet")


if __name__ == "__main__":
    main(*sys.argv[1:])
