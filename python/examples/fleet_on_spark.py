"""hbmview.fleet on Apache Spark: spark-submit fleet_on_spark.py LOGDIR OUT

LOGDIR is a folder, gs:// or s3://; OUT whatever Spark writes to. The executors need the package hbmview
(spark.archives, or their image). Needs pyspark.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql.types import (BooleanType, DoubleType, LongType, StringType, StructField, StructType, TimestampType)

import hbmview.fleet

TYPES = {"string": StringType(), "int64": LongType(), "float64": DoubleType(), "bool": BooleanType(),
         "timestamp": TimestampType()}


def schema():
    return StructType([StructField(name, TYPES[kind]) for name, kind, _ in hbmview.fleet.COLUMNS])


def rows_of(session):
    names = [name for name, _, _ in hbmview.fleet.COLUMNS]
    for row in hbmview.fleet.rows_of(session):
        yield tuple(row[name] for name in names)


def main(logdir, out):
    spark = SparkSession.builder.appName("hbmview fleet").getOrCreate()
    sessions = [tuple(session) for session in hbmview.fleet.listed(logdir)]
    rows = spark.sparkContext.parallelize(sessions, max(1, len(sessions) // 32)).flatMap(rows_of)
    spark.createDataFrame(rows, schema()).write.partitionBy("date").mode("overwrite").parquet(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
