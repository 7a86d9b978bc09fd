/**
 * The tasks of one list and their dependencies. Pure: applies the rules and returns the changed tasks. Both ends of a
 * dependency change together.
 */

import type { ErrorCode } from "../../abi/errno.ts";
import type { Label } from "../../abi/labels.ts";
import type { ClaimReason, Task, TaskCreate, TaskUpdate } from "../../abi/task.ts";
import { driverError } from "../driver-error.ts";

const MAX_OPEN = 1_000;
const MAX_METADATA_BYTES = 16 * 1024;

/** The process that changes a task. `isLeader`: it may also change tasks of others. */
export interface TaskCaller {
  readonly owner: string;
  readonly isLeader: boolean;
  /** Of a team: it works on one task at a time. */
  readonly isMember: boolean;
  /** The labels of a text, with those of all that the process has read. */
  mark(labels: readonly Label[]): readonly Label[];
}

export type Claim =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: ClaimReason; readonly message: string };

const UNMARKED: Pick<TaskCaller, "mark"> = { mark: (labels) => labels };

export class TaskGraph {
  readonly #tasks: Map<string, Task>;
  readonly #changed = new Set<string>();
  readonly #removed = new Set<string>();
  highest: number;
  added = false;

  /** `highest`: the highest id ever used. Completes changes that a crash interrupted. */
  constructor(tasks: readonly Task[], highest: number) {
    this.#tasks = new Map(tasks.map((task) => [task.id, task]));
    this.highest = highest;
    for (const task of tasks) this.#mend(task);
  }

  get changed(): readonly Task[] {
    return [...this.#changed].flatMap((id) => this.#tasks.get(id) ?? []);
  }

  get removed(): readonly string[] {
    return [...this.#removed];
  }

  get all(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  find(id: string): Task {
    const task = this.#tasks.get(id);
    if (task !== undefined) return task;
    throw failed("NOT_FOUND", `task not found: ${id.slice(0, 40)}. task_list shows those there are`);
  }

  create(
    { op: _op, blocks = [], blocked_by: blockedBy = [], ...words }: TaskCreate,
    labels: readonly Label[] = [],
  ): Task {
    const open = this.all.filter(({ status }) => status !== "completed").length;
    if (open >= MAX_OPEN)
      throw failed("BUDGET", `the list has ${MAX_OPEN} open tasks; complete or delete some`);
    checkMetadata(words.metadata);
    for (const id of [...blocks, ...blockedBy]) this.find(id);
    const id = String(++this.highest);
    this.added = true;
    const marks = labels.length === 0 ? {} : { labels };
    this.#put({ id, ...words, status: "pending", blocks: [], blocked_by: [], ...marks });
    for (const other of blocks) this.#link(id, other);
    for (const other of blockedBy) this.#link(other, id);
    return this.find(id);
  }

  /** Changes texts and dependencies; status and owner have their own rules. */
  edit(update: TaskUpdate, { mark }: Pick<TaskCaller, "mark"> = UNMARKED): void {
    const { task_id: id, subject, description, active_form: activeForm, metadata } = update;
    const task = this.find(id);
    checkMetadata(metadata);
    const hasWords = [subject, description, activeForm, metadata].some((each) => each !== undefined);
    const { labels: had = [] } = task;
    const labels = hasWords ? mark(had) : had;
    this.#put({
      ...task,
      ...(labels.length === 0 ? {} : { labels }),
      ...(subject === undefined ? {} : { subject }),
      ...(description === undefined ? {} : { description }),
      ...(activeForm === undefined ? {} : { active_form: activeForm }),
      ...(metadata === undefined ? {} : { metadata }),
    });
    for (const other of update.remove_blocks ?? []) this.#unlink(id, other);
    for (const other of update.remove_blocked_by ?? []) this.#unlink(other, id);
    for (const other of update.add_blocks ?? []) this.#link(id, other);
    for (const other of update.add_blocked_by ?? []) this.#link(other, id);
  }

  /** PERMISSION: the task belongs to another process. */
  checkMayChange(id: string, { owner, isLeader }: TaskCaller): void {
    const task = this.find(id);
    if (isLeader || task.owner === undefined || task.owner === owner) return;
    throw failed(
      "PERMISSION",
      `task ${id} belongs to process ${task.owner}: only that, the leader or the user changes its status or owner`,
    );
  }

  /**
   * Checks existence, owner, status and blockers, in this order, before it claims the task. Claiming one's own task
   * again is allowed.
   */
  claim(id: string, owner: string, isBusyChecked: boolean): Claim {
    const task = this.#tasks.get(id);
    if (task === undefined) return refused("task_not_found", `task not found: ${id.slice(0, 40)}`);
    if (task.owner !== undefined && task.owner !== owner)
      return refused("already_claimed", `task ${id} is claimed by process ${task.owner}`);
    if (task.status === "completed") return refused("already_resolved", `task ${id} is completed`);
    const blockers = this.#openBlockers(task);
    if (blockers.length > 0) return refused("blocked", `task ${id} waits for ${blockers.join(", ")}`);
    const other = this.all.find(
      (each) => each.owner === owner && each.id !== id && each.status !== "completed",
    );
    if (isBusyChecked && other !== undefined)
      return refused("agent_busy", `process ${owner} has an unfinished task: ${other.id}`);
    this.#put({ ...task, owner, status: "in_progress" });
    return { ok: true };
  }

  /** Returns the ids of tasks that are no longer blocked. */
  setStatus(id: string, status: Task["status"]): readonly string[] {
    const task = this.find(id);
    this.#put({ ...task, status });
    if (status !== "completed" || task.status === "completed") return [];
    return task.blocks.filter((other) => {
      const waiting = this.#tasks.get(other);
      return (
        waiting !== undefined && waiting.status !== "completed" && this.#openBlockers(waiting).length === 0
      );
    });
  }

  /** An empty `owner` removes the owner. */
  setOwner(id: string, owner: string): void {
    const { owner: _owner, ...task } = this.find(id);
    this.#put(owner === "" ? task : { ...task, owner });
  }

  remove(id: string): void {
    const task = this.find(id);
    for (const other of task.blocks) this.#unlink(id, other);
    for (const other of task.blocked_by) this.#unlink(other, id);
    this.#tasks.delete(id);
    this.#changed.delete(id);
    this.#removed.add(id);
  }

  /** Releases the unfinished tasks of owners that have ended. `key`: the leader is to be told of it, by notices of that name. */
  free(hasEnded: (owner: string) => boolean, key: string | null): void {
    for (const task of this.all) {
      const { owner, status } = task;
      if (owner === undefined || status === "completed" || !hasEnded(owner)) continue;
      this.setOwner(task.id, "");
      this.setStatus(task.id, "pending");
      if (key !== null) this.#put({ ...this.find(task.id), left: `${owner} ${key}` });
    }
  }

  /** The leader has been told. */
  told(left: string): void {
    for (const { left: its, ...task } of this.all) if (its === left) this.#put(task);
  }

  #openBlockers({ blocked_by: ids }: Task): readonly string[] {
    return ids.filter((id) => (this.#tasks.get(id)?.status ?? "completed") !== "completed");
  }

  #put(task: Task): void {
    this.#tasks.set(task.id, task);
    this.#changed.add(task.id);
  }

  /** `first` must be completed before `then`. INVALID: they would wait for each other. */
  #link(first: string, then: string): void {
    if (first === then) throw failed("INVALID", `task ${first} cannot wait for itself`);
    const [before, after] = [this.find(first), this.find(then)];
    const path = this.#pathFrom(then, first);
    if (path !== undefined)
      throw failed("INVALID", `a circle: ${[first, ...path].map((id) => `task ${id}`).join(" before ")}`);
    if (!before.blocks.includes(then)) this.#put({ ...before, blocks: [...before.blocks, then] });
    if (!after.blocked_by.includes(first)) this.#put({ ...after, blocked_by: [...after.blocked_by, first] });
  }

  #unlink(first: string, then: string): void {
    const [before, after] = [this.#tasks.get(first), this.#tasks.get(then)];
    if (before?.blocks.includes(then) === true)
      this.#put({ ...before, blocks: without(before.blocks, then) });
    if (after?.blocked_by.includes(first) === true)
      this.#put({ ...after, blocked_by: without(after.blocked_by, first) });
  }

  /** The chain of dependent tasks from `from` to `to`; undefined: there is none. */
  #pathFrom(from: string, to: string): readonly string[] | undefined {
    const came = new Map<string, string>([[from, ""]]);
    for (const at of came.keys()) {
      if (at === to) {
        const path: string[] = [];
        for (let step = to; step !== ""; step = came.get(step) ?? "") path.unshift(step);
        return path;
      }
      for (const next of this.#tasks.get(at)?.blocks ?? []) if (!came.has(next)) came.set(next, at);
    }
    return undefined;
  }

  /**
   * Repairs a task after a crash that wrote only one of two files, or lost one: a dependency that one end has is
   * added to the other, and references to missing tasks are removed.
   */
  #mend({ id }: Task): void {
    const task = this.find(id);
    const blocks = task.blocks.filter((other) => this.#tasks.has(other));
    const blockedBy = task.blocked_by.filter((other) => this.#tasks.has(other));
    if (blocks.length < task.blocks.length || blockedBy.length < task.blocked_by.length)
      this.#put({ ...task, blocks, blocked_by: blockedBy });
    for (const other of blocks) {
      const after = this.find(other);
      if (!after.blocked_by.includes(id)) this.#put({ ...after, blocked_by: [...after.blocked_by, id] });
    }
    for (const other of blockedBy) {
      const before = this.find(other);
      if (!before.blocks.includes(id)) this.#put({ ...before, blocks: [...before.blocks, id] });
    }
  }
}

function without(ids: readonly string[], id: string): readonly string[] {
  return ids.filter((each) => each !== id);
}

function checkMetadata(metadata: Task["metadata"]): void {
  const bytes = metadata === undefined ? 0 : Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > MAX_METADATA_BYTES)
    throw failed("INVALID", `metadata has ${bytes} bytes; at most ${MAX_METADATA_BYTES}`);
}

function refused(reason: ClaimReason, message: string): Claim {
  return { ok: false, reason, message };
}

function failed(code: ErrorCode, message: string): Error {
  return driverError("Write", code, message);
}
