#!/usr/bin/env python3
"""Asks DuckDB with SQL, by its C library (tools/from_npm.py fetches it): `duckdb.py LIBRARY <QUERIES`, one a line. Prints the rows of each as a line of JSON, all
values as text."""
import ctypes
import json
import sys


class Result(ctypes.Structure):
    _fields_ = [("room", ctypes.c_uint64 * 6)]


library = ctypes.CDLL(sys.argv[1])
library.duckdb_value_varchar.restype = ctypes.c_void_p
library.duckdb_result_error.restype = ctypes.c_char_p
for count in (library.duckdb_row_count, library.duckdb_column_count):
    count.restype = ctypes.c_uint64
library.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
library.duckdb_free.argtypes = [ctypes.c_void_p]
database, connection = ctypes.c_void_p(), ctypes.c_void_p()
assert library.duckdb_open(None, ctypes.byref(database)) == 0 and library.duckdb_connect(database, ctypes.byref(connection)) == 0


def cell(result, column, row):
    text = library.duckdb_value_varchar(ctypes.byref(result), column, row)
    if not text:
        return None
    value = ctypes.string_at(text).decode()
    library.duckdb_free(text)
    return value


for query in sys.stdin:
    answer = Result()
    if library.duckdb_query(connection, query.encode(), ctypes.byref(answer)):
        sys.exit(f"{query.strip()}: {(library.duckdb_result_error(ctypes.byref(answer)) or b'').decode()}")
    columns, rows = library.duckdb_column_count(ctypes.byref(answer)), library.duckdb_row_count(ctypes.byref(answer))
    print(json.dumps([[cell(answer, column, row) for column in range(columns)] for row in range(rows)]))
    library.duckdb_destroy_result(ctypes.byref(answer))
