"""The first schema: tasks, traces, rubrics, raters, labels, completions.

Written out in full and never changed again: stores of this version exist.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create every table."""
    op.create_table('completion',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('request', sa.Text(), nullable=False),
    sa.Column('endpoint', sa.Text(), nullable=False),
    sa.Column('model', sa.Text(), nullable=False),
    sa.Column('repeat', sa.Integer(), nullable=False),
    sa.Column('accepted', sa.Boolean(), nullable=False),
    sa.Column('finish_reason', sa.Text(), nullable=True),
    sa.Column('failure_kind', sa.String(length=16), nullable=True),
    sa.Column('failure_message', sa.Text(), nullable=True),
    sa.Column('failure_status', sa.Integer(), nullable=True),
    sa.Column('has_usage', sa.Boolean(), nullable=False),
    sa.Column('prompt_tokens', sa.BigInteger(), nullable=True),
    sa.Column('completion_tokens', sa.BigInteger(), nullable=True),
    sa.Column('reasoning_tokens', sa.BigInteger(), nullable=True),
    sa.Column('cached_tokens', sa.BigInteger(), nullable=True),
    sa.Column('cost', sa.Float(), nullable=True),
    sa.Column('currency', sa.Text(), nullable=True),
    sa.Column('served_model', sa.Text(), nullable=True),
    sa.Column('fingerprint', sa.Text(), nullable=True),
    sa.Column('sent', sa.Text(), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('latency_s', sa.Float(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('text', sa.Text(), nullable=True),
    sa.Column('reasoning', sa.Text(), nullable=True),
    sa.Column('tool_calls', sa.Text(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_completion')),
    sa.UniqueConstraint('request', 'digest', name=op.f('uq_completion_request_digest'))
    )
    op.create_index('uq_completion_accepted', 'completion', ['request'], unique=True, sqlite_where=sa.text('accepted'), postgresql_where=sa.text('accepted'))
    op.create_table('meta',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('store_id', sa.String(length=36), nullable=False),
    sa.Column('secret', sa.String(length=64), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_meta'))
    )
    op.create_table('rater',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('version', sa.Text(), nullable=False),
    sa.Column('rubric', sa.Text(), nullable=True),
    sa.Column('added_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_rater')),
    sa.UniqueConstraint('digest', name=op.f('uq_rater_digest'))
    )
    op.create_table('rubric',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('version', sa.Text(), nullable=False),
    sa.Column('added_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_rubric')),
    sa.UniqueConstraint('digest', name=op.f('uq_rubric_digest'))
    )
    op.create_table('task',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('task_key', sa.String(length=64), nullable=False),
    sa.Column('task_set', sa.Text(), nullable=False),
    sa.Column('task_id', sa.Text(), nullable=False),
    sa.Column('current', sa.Boolean(), nullable=False),
    sa.Column('domain', sa.Text(), nullable=True),
    sa.Column('subset', sa.Text(), nullable=True),
    sa.Column('tags', sa.Text(), nullable=False),
    sa.Column('imported_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_task')),
    sa.UniqueConstraint('digest', name=op.f('uq_task_digest'))
    )
    op.create_index('uq_task_current', 'task', ['task_key'], unique=True, sqlite_where=sa.text('current'), postgresql_where=sa.text('current'))
    op.create_table('trace',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('task_key', sa.String(length=64), nullable=True),
    sa.Column('task_set', sa.Text(), nullable=True),
    sa.Column('task_id', sa.Text(), nullable=True),
    sa.Column('model', sa.Text(), nullable=False),
    sa.Column('condition', sa.Text(), nullable=False),
    sa.Column('repeat', sa.Integer(), nullable=False),
    sa.Column('state', sa.String(length=16), nullable=False),
    sa.Column('domain', sa.Text(), nullable=True),
    sa.Column('subset', sa.Text(), nullable=True),
    sa.Column('tags', sa.Text(), nullable=False),
    sa.Column('source', sa.Text(), nullable=False),
    sa.Column('imported_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('body_chars', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_trace')),
    sa.UniqueConstraint('digest', name=op.f('uq_trace_digest'))
    )
    op.create_index(op.f('ix_trace_task_key'), 'trace', ['task_key'], unique=False)
    op.create_table('label',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('trace_id', sa.Integer(), nullable=False),
    sa.Column('rater_id', sa.Integer(), nullable=False),
    sa.Column('question', sa.Text(), nullable=False),
    sa.Column('repeat', sa.Integer(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('outcome', sa.String(length=16), nullable=False),
    sa.Column('value', sa.Text(), nullable=True),
    sa.Column('reason', sa.Text(), nullable=True),
    sa.Column('flags', sa.Text(), nullable=True),
    sa.Column('confidence', sa.Text(), nullable=True),
    sa.Column('view', sa.Text(), nullable=True),
    sa.Column('completion', sa.Text(), nullable=True),
    sa.Column('cached', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('rationale', sa.Text(), nullable=True),
    sa.Column('evidence', sa.Text(), nullable=True),
    sa.ForeignKeyConstraint(['rater_id'], ['rater.id'], name=op.f('fk_label_rater_id')),
    sa.ForeignKeyConstraint(['trace_id'], ['trace.id'], name=op.f('fk_label_trace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_label')),
    sa.UniqueConstraint('trace_id', 'rater_id', 'question', 'repeat', 'version', name=op.f('uq_label_trace_id_rater_id_question_repeat_version'))
    )
    op.create_table('trace_body',
    sa.Column('trace_id', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['trace_id'], ['trace.id'], name=op.f('fk_trace_body_trace_id')),
    sa.PrimaryKeyConstraint('trace_id', name=op.f('pk_trace_body'))
    )
