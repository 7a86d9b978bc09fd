/**
 * /var/tasks: the task list of the caller. Opened for reading and writing it takes requests; opened for reading it
 * shows the files.
 */
import * as z from "zod";
import {
  type Caller,
  type Carried,
  type Device,
  type FileStat,
  O_RDONLY,
  O_RDWR,
  type OpenFile,
  type WritePlan,
} from "../../abi/device.ts";
import type { Label } from "../../abi/labels.ts";
import { TASK_STATUSES, type Task, type TaskPlace, type TaskRequest } from "../../abi/task.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { driverError, type FileOp, hostError, throwIfAborted } from "../driver-error.ts";
import { snapshotFile } from "../snapshot.ts";
import type { TaskStore } from "./store.ts";
import type { Tasks } from "./tasks.ts";

const MOUNT = "/var/tasks";

interface TasksDeviceDeps {
  readonly store: TaskStore;
  readonly tasks: Tasks;
  /** The list of the caller; null: the caller has ended. */
  placeOf(caller: Pick<Caller, "pid">): TaskPlace | null;
}

const { exactOptional: may } = z;
const id = z.string().regex(/^[1-9]\d{0,14}$/, "not the id of a task");
const ids = z.array(id).max(100);
const words = {
  subject: z.string().min(1).max(200),
  description: z.string().max(10_000),
  active_form: z.string().max(200),
};
const metadata = z.record(z.string(), z.json());
const REQUEST = z.discriminatedUnion("op", [
  z.strictObject({
    op: z.literal("create"),
    subject: words.subject,
    description: words.description,
    active_form: may(words.active_form),
    metadata: may(metadata),
    blocks: may(ids),
    blocked_by: may(ids),
  }),
  z.strictObject({ op: z.literal("clear") }),
  z.strictObject({ op: z.literal("get"), task_id: id }),
  z.strictObject({ op: z.literal("list"), status: may(z.enum(TASK_STATUSES)), owner: may(z.string()) }),
  z.strictObject({
    op: z.literal("update"),
    task_id: id,
    subject: may(words.subject),
    description: may(words.description),
    active_form: may(words.active_form),
    metadata: may(metadata),
    status: may(z.enum([...TASK_STATUSES, "deleted"])),
    owner: may(z.string().max(64)),
    claim: may(z.boolean()),
    check_agent_busy: may(z.boolean()),
    add_blocks: may(ids),
    add_blocked_by: may(ids),
    remove_blocks: may(ids),
    remove_blocked_by: may(ids),
  }),
]);

export function tasksDevice(deps: TasksDeviceDeps): Device {
  const lists = new TaskLists(deps);
  return {
    name: "tasks",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (flags === O_RDONLY) {
        const { bytes, labels } = await lists.content(subpath, caller, "Open");
        return snapshotFile(bytes, statOf(subpath, bytes.byteLength), labels);
      }
      if (flags !== O_RDWR || subpath !== "")
        throw driverError(
          "Open",
          "INVALID",
          `open ${MOUNT} for reading and writing, what is below it for reading`,
        );
      return new TasksFile(lists, deps.tasks, caller);
    },
    async stat(subpath, caller) {
      return statOf(subpath, (await lists.content(subpath, caller, "Stat")).bytes.byteLength);
    },
    openEffects: (subpath) => [{ kind: "state", path: MOUNT + subpath }],
  };
}

interface Content {
  readonly bytes: Uint8Array;
  readonly labels?: readonly Label[] | undefined;
}

/** As processes see it. */
function shown({ labels: _labels, left: _left, ...task }: Task): Task {
  return task;
}

class TaskLists {
  readonly #deps: TasksDeviceDeps;

  constructor(deps: TasksDeviceDeps) {
    this.#deps = deps;
  }

  placeFor(caller: Caller, op: FileOp): TaskPlace {
    const place = this.#deps.placeOf(caller);
    if (place === null) throw driverError(op, "CANCELLED", "the process has ended");
    return place;
  }

  /**
   * For an empty subpath the name of the list; for `/<list>` the names of its files; for `/<list>/<id>.json` a task.
   * NOT_FOUND for other lists.
   */
  async content(subpath: string, caller: Caller, op: FileOp): Promise<Content> {
    const { list } = this.placeFor(caller, op);
    if (subpath === "") return { bytes: jsonBytes([list]) };
    const isOwn = subpath === `/${list}` || subpath.startsWith(`/${list}/`);
    const tasks = isOwn ? await this.#deps.store.tasks(list) : undefined;
    if (tasks !== undefined && subpath === `/${list}`)
      return { bytes: jsonBytes(tasks.map((task) => `${task.id}.json`)) };
    const task = tasks?.find((each) => subpath === `/${list}/${each.id}.json`);
    if (task !== undefined) return { bytes: jsonBytes(shown(task)), labels: task.labels };
    throw driverError(op, "NOT_FOUND", `file not found: ${MOUNT}${subpath}`);
  }
}

function statOf(subpath: string, size: number): FileStat {
  const name = subpath.slice(subpath.lastIndexOf("/") + 1) || "tasks";
  return { name, size, isDevice: false, devicePath: MOUNT };
}

class TasksFile implements OpenFile {
  readonly carried: Carried = { labels: [] };
  readonly #lists: TaskLists;
  readonly #tasks: Tasks;
  readonly #caller: Caller;
  readonly #answer = new Answer("tasks");

  constructor(lists: TaskLists, tasks: Tasks, caller: Caller) {
    this.#lists = lists;
    this.#tasks = tasks;
    this.#caller = caller;
  }

  plan(bytes: Uint8Array): WritePlan {
    const { op } = parse(bytes);
    const { list } = this.#lists.placeFor(this.#caller, "Write");
    const isRead = op === "get" || op === "list";
    return { effects: [{ kind: "state", path: `${MOUNT}/${list}` }], effectClass: isRead ? "none" : "once" };
  }

  /** A change that has begun is not interrupted: a list is never left half changed. */
  async write(bytes: Uint8Array, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.#answer.expectRequest();
    throwIfAborted(signal, "Write");
    const request = parse(bytes);
    const place = this.#lists.placeFor(this.#caller, "Write");
    try {
      const writer = { pid: this.#caller.pid, labels: this.carried.labels };
      const answer = await this.#tasks.answer(writer, place, request);
      if (answer.ok) this.carried.labels = answer.tasks.flatMap(({ labels = [] }) => labels);
      this.#answer.set(jsonBytes(answer.ok ? { ...answer, tasks: answer.tasks.map(shown) } : answer));
    } catch (error) {
      throw hostError("Write", `${MOUNT}/${place.list}`, error);
    }
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#answer.clear();
  }

  async stat(): Promise<FileStat> {
    return statOf("", 0);
  }
}

function parse(bytes: Uint8Array): TaskRequest {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (cause) {
    throw driverError("Write", "INVALID", "tasks: not JSON", cause);
  }
  const parsed = REQUEST.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw driverError(
    "Write",
    "INVALID",
    `${(issue?.path ?? []).map(String).join(".")}: ${issue?.message ?? "not a request"}`,
  );
}
