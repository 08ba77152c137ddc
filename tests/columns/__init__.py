"""Tests of tables, SQL and what is made of them."""
