/**
 * The operations of processes on their task lists: permissions, notifications, and the release of tasks whose owner
 * has ended.
 */

import { asPid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { Task, TaskAnswer, TaskPlace, TaskRequest, TaskUpdate } from "../../abi/task.ts";
import { Serial } from "../../lib/serial.ts";
import { driverError } from "../driver-error.ts";
import type { TaskStore } from "./store.ts";
import type { Claim, TaskCaller, TaskGraph } from "./task-graph.ts";

interface TasksDeps {
  readonly store: TaskStore;
  /** True if the process has ended, and only the user can bring it back. */
  hasEnded(pid: Pid): Promise<boolean>;
  /** All labels, each once. */
  unite(labels: readonly Label[], more: readonly Label[]): readonly Label[];
  /** Sends a note to a process, once for a key, also over daemons. False: it is not on record. */
  notify(pid: Pid, note: TaskNote): Promise<boolean>;
  /** A name that no notice has had. */
  nonce(): string;
}

interface TaskNote {
  readonly text: string;
  /** Of what others have said in it. */
  readonly labels?: readonly Label[] | undefined;
  readonly key?: string;
}

/** The process that asks, and the labels of all that it has read. */
interface Asker {
  readonly pid: Pid;
  readonly labels?: readonly Label[];
}

export class Tasks {
  readonly #deps: TasksDeps;
  /** Lists checked since the daemon started: a crash may have ended owners. */
  readonly #known = new Set<string>();
  readonly #telling = new Serial();

  constructor(deps: TasksDeps) {
    this.#deps = deps;
  }

  async answer({ pid, labels = [] }: Asker, place: TaskPlace, request: TaskRequest): Promise<TaskAnswer> {
    const { list, leader, members = [] } = place;
    await this.returned(place);
    const isMember = members.some((member) => member.pid === pid);
    const caller = {
      owner: String(pid),
      isLeader: pid === PID_KERNEL || pid === leader,
      isMember,
      mark: (had: readonly Label[]) => this.#deps.unite(had, labels),
    };
    switch (request.op) {
      case "create": {
        const task = await this.#deps.store.change(list, (graph) => graph.create(request, caller.mark([])));
        return { ok: true, list, tasks: [task] };
      }
      case "get": {
        const task = await this.#deps.store.change(list, (graph) => graph.find(request.task_id));
        return { ok: true, list, tasks: [task] };
      }
      case "list": {
        const tasks = await this.#deps.store.tasks(list);
        return { ok: true, list, tasks: tasks.filter((task) => isWanted(task, request)) };
      }
      case "update":
        return this.#update(place, caller, request);
      case "clear":
        return this.#clear(list, caller);
    }
  }

  /** Call when a process has ended: releases its unfinished tasks and notifies the leader of its list. */
  async exited(pid: Pid, place: TaskPlace): Promise<void> {
    if (await this.#deps.store.isThere(place.list)) await this.#free(place, new Set([String(pid)]));
  }

  /** Does what the last daemon did not come to: releases what those had taken that ended with it, and notifies the leader. */
  async returned(place: TaskPlace): Promise<void> {
    const { list } = place;
    if (this.#known.has(list)) return;
    this.#known.add(list);
    const { store } = this.#deps;
    if (!(await store.isThere(list))) return;
    const owners = new Set(
      (await store.tasks(list)).flatMap(({ owner, status }) => (status === "completed" ? [] : (owner ?? []))),
    );
    const ended = new Set<string>();
    for (const owner of owners) if (await this.#deps.hasEnded(asPid(Number(owner)))) ended.add(owner);
    await this.#free(place, ended);
  }

  async #free({ list, leader }: TaskPlace, ended: ReadonlySet<string>): Promise<void> {
    const { store, nonce } = this.#deps;
    const isTold = leader !== null && !ended.has(String(leader));
    if (ended.size > 0)
      await store.change(list, (graph) => graph.free((owner) => ended.has(owner), isTold ? nonce() : null));
    if (isTold) await this.#telling.run(() => this.#tellLeader(list, leader));
  }

  /** Whatever moment a daemon dies in: the tasks say what is to be told, the name of a notice that it has been. */
  async #tellLeader(list: string, leader: Pid): Promise<void> {
    const { store, notify, hasEnded } = this.#deps;
    const all = await store.tasks(list);
    for (const left of new Set(all.flatMap((task) => task.left ?? []))) {
      const [owner = "", key = ""] = left.split(" ");
      const tasks = all.filter((task) => task.left === left);
      const what = tasks.map(({ id, subject }) => `${id} (${subject})`).join(", ");
      const text = `process ${owner} has ended; its unfinished tasks are pending again: ${what}`;
      const labels = tasks.flatMap(({ labels: own = [] }) => own);
      if ((await notify(leader, { text, labels, key })) || (await hasEnded(leader)))
        await store.change(list, (graph) => graph.told(left));
    }
  }

  /** PERMISSION: only who leads the list removes all of it. */
  async #clear(list: string, { isLeader }: TaskCaller): Promise<TaskAnswer> {
    if (!isLeader) throw driverError("Write", "PERMISSION", `only the leader removes the tasks of ${list}`);
    const tasks = await this.#deps.store.change(list, (graph) => {
      const { all } = graph;
      for (const { id } of all) graph.remove(id);
      return all;
    });
    return { ok: true, list, tasks };
  }

  async #update(
    { list, members = [] }: TaskPlace,
    caller: TaskCaller,
    asked: TaskUpdate,
  ): Promise<TaskAnswer> {
    const id = asked.task_id;
    const update = asked.owner === undefined ? asked : { ...asked, owner: pidOf(asked.owner, members) };
    const outcome = await this.#deps.store.change(list, (graph) => apply(graph, caller, update));
    if ("reason" in outcome) return { ok: false, list, reason: outcome.reason, message: outcome.message };
    const { task, freed, assigned } = outcome;
    if (assigned !== null) {
      const { subject, description } = task;
      const words = { type: "task_assignment", task_id: id, subject, description, assigned_by: caller.owner };
      await this.#deps.notify(assigned, { text: JSON.stringify(words), labels: task.labels });
    }
    if (freed.length === 0) return { ok: true, list, tasks: [task] };
    for (const { pid, isIdle } of members)
      if (isIdle)
        await this.#deps.notify(pid, {
          text: `nothing holds back task ${freed.join(", ")} any more: task_list`,
        });
    return { ok: true, list, tasks: [task], freed };
  }
}

/** A pid, a member of the team by its name, or "" for nobody. */
function pidOf(owner: string, members: NonNullable<TaskPlace["members"]>): string {
  const named = members.find(({ name }) => name === owner && name !== "");
  if (named !== undefined) return String(named.pid);
  if (/^([1-9]\d{0,14})?$/.test(owner)) return owner;
  throw driverError("Write", "INVALID", `owner: not a pid, nor a member of the team: ${owner}`);
}

interface Updated {
  readonly task: Task;
  readonly freed: readonly string[];
  /** The process that another one assigned the task to; null: not assigned by another. */
  readonly assigned: Pid | null;
}

function apply(
  graph: TaskGraph,
  caller: TaskCaller,
  update: TaskUpdate,
): Updated | Extract<Claim, { ok: false }> {
  const { task_id: id, status, owner, claim = false } = update;
  const isClaim = claim || (status === "in_progress" && owner === undefined);
  if (isClaim) {
    const claimed = graph.claim(id, caller.owner, caller.isMember || update.check_agent_busy === true);
    if (!claimed.ok) return claimed;
  }
  const before = graph.find(id);
  if (status !== undefined || owner !== undefined) graph.checkMayChange(id, caller);
  graph.edit(update, caller);
  if (status === "deleted") {
    graph.remove(id);
    return { task: before, freed: [], assigned: null };
  }
  if (owner !== undefined) graph.setOwner(id, owner);
  const freed = status === undefined ? [] : graph.setStatus(id, status);
  const isGiven = owner !== undefined && owner !== "" && owner !== before.owner && owner !== caller.owner;
  return { task: graph.find(id), freed, assigned: isGiven ? asPid(Number(owner)) : null };
}

function isWanted(task: Task, { status, owner }: { status?: string; owner?: string }): boolean {
  return (status === undefined || task.status === status) && (owner === undefined || task.owner === owner);
}
