"""Runs on a database, executed by many workers: DBOS keeps and hands out the work, the machine decides."""

from stagec.runtime.drivers.dbos.database import Database, check, migrate, open_database
from stagec.runtime.drivers.dbos.execution_setup import OpenWorld, RunWorld
from stagec.runtime.drivers.dbos.live_run import LiveRun, RunBrief, list_briefs
from stagec.runtime.drivers.dbos.queues import QueueLimit
from stagec.runtime.drivers.dbos.run_records import CourseChange, RunPhase, RunRecord, Submission
from stagec.runtime.drivers.dbos.run_store import RunStore
from stagec.runtime.drivers.dbos.schedules import CatchUp, Schedules
from stagec.runtime.drivers.dbos.transitions import Transitions
from stagec.runtime.drivers.dbos.worker import Worker, WorkerSettings

__all__ = [
    "CatchUp",
    "CourseChange",
    "Database",
    "LiveRun",
    "OpenWorld",
    "QueueLimit",
    "RunBrief",
    "RunPhase",
    "RunRecord",
    "RunStore",
    "RunWorld",
    "Schedules",
    "Submission",
    "Transitions",
    "Worker",
    "WorkerSettings",
    "check",
    "list_briefs",
    "migrate",
    "open_database",
]
