"""Run by alembic: applies the steps inside the transaction that `engine.py` hands over."""

from alembic import context

from auditor.store.engine import VERSION_TABLE
from auditor.store.schema import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata, version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
