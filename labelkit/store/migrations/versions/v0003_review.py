"""People, samples, leases, submissions, adjudications: what the review app writes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of review."""
    op.create_table('person',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('name_key', sa.String(length=64), nullable=False),
    sa.Column('role', sa.String(length=16), nullable=False),
    sa.Column('passphrase', sa.Text(), nullable=True),
    sa.Column('subject', sa.Text(), nullable=True),
    sa.Column('subject_key', sa.String(length=64), nullable=True),
    sa.Column('epoch', sa.Integer(), nullable=False),
    sa.Column('added_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('retired_at', sa.DateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_person')),
    sa.UniqueConstraint('name_key', name=op.f('uq_person_name_key')),
    sa.UniqueConstraint('subject_key', name=op.f('uq_person_subject_key'))
    )
    op.create_table('sign_in',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name_key', sa.String(length=64), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sign_in'))
    )
    op.create_index(op.f('ix_sign_in_name_key'), 'sign_in', ['name_key'], unique=False)
    op.create_table('sample',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('rubric', sa.String(length=64), nullable=False),
    sa.Column('guideline', sa.String(length=64), nullable=False),
    sa.Column('frame_last', sa.Integer(), nullable=False),
    sa.Column('created_by', sa.Integer(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('closed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('body', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['created_by'], ['person.id'], name=op.f('fk_sample_created_by')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sample')),
    sa.UniqueConstraint('digest', name=op.f('uq_sample_digest'))
    )
    op.create_table('sighting',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('person_id', sa.Integer(), nullable=False),
    sa.Column('trace_id', sa.Integer(), nullable=False),
    sa.Column('what', sa.String(length=80), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['person_id'], ['person.id'], name=op.f('fk_sighting_person_id')),
    sa.ForeignKeyConstraint(['trace_id'], ['trace.id'], name=op.f('fk_sighting_trace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sighting')),
    sa.UniqueConstraint('person_id', 'trace_id', 'what', name=op.f('uq_sighting_person_id_trace_id_what'))
    )
    op.create_table('sample_item',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('sample_id', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('trace_id', sa.Integer(), nullable=False),
    sa.Column('stratum', sa.Text(), nullable=False),
    sa.Column('probability', sa.Float(), nullable=False),
    sa.Column('again', sa.Integer(), nullable=True),
    sa.ForeignKeyConstraint(['sample_id'], ['sample.id'], name=op.f('fk_sample_item_sample_id')),
    sa.ForeignKeyConstraint(['trace_id'], ['trace.id'], name=op.f('fk_sample_item_trace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sample_item')),
    sa.UniqueConstraint('sample_id', 'position', name=op.f('uq_sample_item_sample_id_position')),
    sa.UniqueConstraint('sample_id', 'trace_id', name=op.f('uq_sample_item_sample_id_trace_id'))
    )
    op.create_table('sample_person',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('sample_id', sa.Integer(), nullable=False),
    sa.Column('person_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['person_id'], ['person.id'], name=op.f('fk_sample_person_person_id')),
    sa.ForeignKeyConstraint(['sample_id'], ['sample.id'], name=op.f('fk_sample_person_sample_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sample_person')),
    sa.UniqueConstraint('sample_id', 'person_id', name=op.f('uq_sample_person_sample_id_person_id'))
    )
    op.create_table('adjudication',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('request_key', sa.String(length=64), nullable=False),
    sa.Column('sample_id', sa.Integer(), nullable=False),
    sa.Column('item_id', sa.Integer(), nullable=False),
    sa.Column('question', sa.Text(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('person_id', sa.Integer(), nullable=False),
    sa.Column('value', sa.Text(), nullable=True),
    sa.Column('reason', sa.Text(), nullable=False),
    sa.Column('tags', sa.Text(), nullable=False),
    sa.Column('guideline_gap', sa.Boolean(), nullable=False),
    sa.Column('labels', sa.Text(), nullable=False),
    sa.Column('seen', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['item_id'], ['sample_item.id'], name=op.f('fk_adjudication_item_id')),
    sa.ForeignKeyConstraint(['person_id'], ['person.id'], name=op.f('fk_adjudication_person_id')),
    sa.ForeignKeyConstraint(['sample_id'], ['sample.id'], name=op.f('fk_adjudication_sample_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_adjudication')),
    sa.UniqueConstraint('item_id', 'question', 'version', name=op.f('uq_adjudication_item_id_question_version')),
    sa.UniqueConstraint('request_key', name=op.f('uq_adjudication_request_key'))
    )
    op.create_index('ix_adjudication_sample', 'adjudication', ['sample_id', 'id'], unique=False)
    op.create_table('assignment',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('sample_id', sa.Integer(), nullable=False),
    sa.Column('item_id', sa.Integer(), nullable=False),
    sa.Column('person_id', sa.Integer(), nullable=False),
    sa.Column('repeat', sa.Integer(), nullable=False),
    sa.Column('slot', sa.Integer(), nullable=True),
    sa.Column('state', sa.String(length=16), nullable=False),
    sa.Column('round', sa.Integer(), nullable=False),
    sa.Column('message', sa.Text(), nullable=True),
    sa.Column('leased_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('done_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['item_id'], ['sample_item.id'], name=op.f('fk_assignment_item_id')),
    sa.ForeignKeyConstraint(['person_id'], ['person.id'], name=op.f('fk_assignment_person_id')),
    sa.ForeignKeyConstraint(['sample_id'], ['sample.id'], name=op.f('fk_assignment_sample_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_assignment')),
    sa.UniqueConstraint('item_id', 'person_id', 'repeat', name=op.f('uq_assignment_item_id_person_id_repeat')),
    sa.UniqueConstraint('item_id', 'slot', name=op.f('uq_assignment_item_id_slot'))
    )
    op.create_index('ix_assignment_expiry', 'assignment', ['sample_id', 'state', 'expires_at'], unique=False)
    op.create_index('ix_assignment_person', 'assignment', ['sample_id', 'person_id', 'state'], unique=False)
    op.create_table('draft',
    sa.Column('assignment_id', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('saved_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['assignment_id'], ['assignment.id'], name=op.f('fk_draft_assignment_id')),
    sa.PrimaryKeyConstraint('assignment_id', name=op.f('pk_draft'))
    )
    op.create_table('submission',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('request_key', sa.String(length=64), nullable=False),
    sa.Column('assignment_id', sa.Integer(), nullable=False),
    sa.Column('sample_id', sa.Integer(), nullable=False),
    sa.Column('item_id', sa.Integer(), nullable=False),
    sa.Column('person_id', sa.Integer(), nullable=False),
    sa.Column('repeat', sa.Integer(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('round', sa.Integer(), nullable=False),
    sa.Column('act', sa.String(length=16), nullable=False),
    sa.Column('active_ms', sa.Integer(), nullable=False),
    sa.Column('guideline', sa.String(length=64), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['assignment_id'], ['assignment.id'], name=op.f('fk_submission_assignment_id')),
    sa.ForeignKeyConstraint(['item_id'], ['sample_item.id'], name=op.f('fk_submission_item_id')),
    sa.ForeignKeyConstraint(['person_id'], ['person.id'], name=op.f('fk_submission_person_id')),
    sa.ForeignKeyConstraint(['sample_id'], ['sample.id'], name=op.f('fk_submission_sample_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_submission')),
    sa.UniqueConstraint('assignment_id', 'version', name=op.f('uq_submission_assignment_id_version')),
    sa.UniqueConstraint('request_key', name=op.f('uq_submission_request_key'))
    )
    op.create_index('ix_submission_person', 'submission', ['person_id', 'id'], unique=False)
    op.create_index('ix_submission_sample', 'submission', ['sample_id', 'id'], unique=False)
    op.create_table('annotation',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('submission_id', sa.Integer(), nullable=False),
    sa.Column('question', sa.Text(), nullable=False),
    sa.Column('label_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['label_id'], ['label.id'], name=op.f('fk_annotation_label_id')),
    sa.ForeignKeyConstraint(['submission_id'], ['submission.id'], name=op.f('fk_annotation_submission_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_annotation')),
    sa.UniqueConstraint('submission_id', 'question', name=op.f('uq_annotation_submission_id_question'))
    )
