/**
 * Task lists on disk: `<root>/<list>/<id>.json`. Changes of a list run one after another: within this daemon in the
 * order of the calls, and against other programs under the list's lock. A file is replaced atomically and synced
 * before its change is reported; a change of several files that a crash interrupted is completed by the next change.
 */
import { link, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../abi/program.ts";
import { TASK_STATUSES, type Task, type TaskListView } from "../../abi/task.ts";
import type { TaskDesk } from "../../kernel/ports/tasks.ts";
import { driverError, errnoOf } from "../driver-error.ts";
import { findProcess, hasProcfs } from "../host/procfs.ts";
import { TaskGraph } from "./task-graph.ts";

const MARK = ".highwatermark";

export class TaskStore implements TaskDesk {
  readonly #root: string;
  readonly #clock: Pick<Clock, "sleep">;
  /** The last pending change of each list. */
  readonly #lanes = new Map<string, Promise<unknown>>();

  constructor(root: string, clock: Pick<Clock, "sleep">) {
    this.#root = root;
    this.#clock = clock;
  }

  /** In id order; empty if the list does not exist. */
  async tasks(list: string): Promise<readonly Task[]> {
    const dir = this.#dir(list);
    const found = await Promise.all((await idsIn(dir)).map((id) => readTask(dir, id)));
    return found.filter((task) => task !== undefined);
  }

  async lists(): Promise<readonly TaskListView[]> {
    const names = (await readdirOrNone(this.#root)).filter((name) => LIST_NAME.test(name)).sort();
    return Promise.all(
      names.map(async (list) => {
        const tasks = await this.tasks(list);
        const completed = tasks.filter(({ status }) => status === "completed").length;
        return { list, open: tasks.length - completed, completed };
      }),
    );
  }

  /** Whether the list has any file. A cheap check. */
  async isThere(list: string): Promise<boolean> {
    return LIST_NAME.test(list) && (await readdirOrNone(join(this.#root, list))).length > 0;
  }

  /**
   * Changes a list through `act`; the changes are on disk when this resolves. If `act` throws, nothing is written.
   * TIMEOUT: the list is locked.
   */
  change<T>(list: string, act: (graph: TaskGraph) => T): Promise<T> {
    const dir = this.#dir(list);
    const before = this.#lanes.get(list) ?? Promise.resolve();
    const mine = before.then(() => this.#changeAlone(dir, act));
    const lane = mine.catch(() => {});
    this.#lanes.set(list, lane);
    void lane.then(() => {
      if (this.#lanes.get(list) === lane) this.#lanes.delete(list);
    });
    return mine;
  }

  async #changeAlone<T>(dir: string, act: (graph: TaskGraph) => T): Promise<T> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const release = await takeLock(join(dir, ".lock"), this.#clock);
    try {
      const ids = await idsIn(dir);
      const tasks = (await Promise.all(ids.map((id) => readTask(dir, id)))).filter(
        (task) => task !== undefined,
      );
      const graph = new TaskGraph(tasks, await highestOf(dir, ids));
      const result = act(graph);
      await save(dir, graph);
      return result;
    } finally {
      await release();
    }
  }

  #dir(list: string): string {
    if (LIST_NAME.test(list)) return join(this.#root, list);
    throw driverError(
      "Open",
      "INVALID",
      `not a name for a task list: ${list.slice(0, 100)} (letters, digits, _ and -, at most 64)`,
    );
  }
}

const LIST_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Writes the high-water mark first: an id is never reused, even if its task is lost. */
async function save(dir: string, { added, changed, removed, highest }: TaskGraph): Promise<void> {
  if (added) await replace(dir, MARK, `${highest}\n`);
  for (const task of changed) await replace(dir, `${task.id}.json`, `${JSON.stringify(task)}\n`);
  for (const id of removed) await rm(join(dir, `${id}.json`), { force: true });
  if (changed.length === 0 && removed.length === 0) return;
  const folder = await open(dir);
  await folder.sync().finally(() => folder.close());
}

async function replace(dir: string, name: string, text: string): Promise<void> {
  const temporary = join(dir, `.${name}.new`);
  const file = await open(temporary, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(dir, name));
}

async function highestOf(dir: string, ids: readonly string[]): Promise<number> {
  const mark = Number((await markIn(dir)).trim());
  return Math.max(Number.isInteger(mark) ? mark : 0, ...ids.map(Number));
}

async function markIn(dir: string): Promise<string> {
  try {
    return await readFile(join(dir, MARK), "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "0";
    throw error;
  }
}

async function idsIn(dir: string): Promise<readonly string[]> {
  const ids = (await readdirOrNone(dir)).flatMap((name) => /^([1-9]\d{0,14})\.json$/.exec(name)?.[1] ?? []);
  return ids.sort((a, b) => Number(a) - Number(b));
}

/** undefined: the task was removed meanwhile. DRIVER: the file is not a task; it is left alone. */
async function readTask(dir: string, id: string): Promise<Task | undefined> {
  let text: string;
  try {
    text = await readFile(join(dir, `${id}.json`), "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const task = parse(text);
  if (task === undefined || task.id !== id)
    throw driverError("Read", "DRIVER", `not a task: ${join(dir, `${id}.json`)}; fix it or remove it`);
  return task;
}

function parse(text: string): Task | undefined {
  try {
    const task = JSON.parse(text) as Partial<Task> | null;
    const isTask =
      typeof task?.id === "string" &&
      typeof task.subject === "string" &&
      typeof task.description === "string" &&
      TASK_STATUSES.some((status) => status === task.status) &&
      Array.isArray(task.blocks) &&
      Array.isArray(task.blocked_by) &&
      (task.labels === undefined || Array.isArray(task.labels));
    return isTask ? (task as Task) : undefined;
  } catch {
    return undefined;
  }
}

async function readdirOrNone(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Retries for the lock of a task list: a file with the pid of its owner. A lock whose owner has ended is removed. */
const TRIES = 30;
const FIRST_WAIT_MS = 5;
/** All 30 tries together take 2.6 s. */
const LONGEST_WAIT_MS = 100;

/** Takes the lock; returns a function that releases it. TIMEOUT: another program holds it all the time. */
async function takeLock(path: string, clock: Pick<Clock, "sleep">): Promise<() => Promise<void>> {
  for (let tries = 1, waitMs = FIRST_WAIT_MS; ; tries++, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    if (await create(path)) return () => rm(path, { force: true });
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (tries === TRIES)
      throw driverError("Write", "TIMEOUT", `the task list is locked by another program: ${path}`);
    await clock.sleep(waitMs);
  }
}

async function create(path: string): Promise<boolean> {
  // it has its content from the first moment on: one that a kill cut off in between would belong to nobody
  const whole = `${path}.${process.pid}`;
  try {
    const startTicks = findProcess(process.pid)?.startTicks;
    await writeFile(whole, [process.pid, startTicks ?? []].flat().join(" "), { mode: 0o600 });
    await link(whole, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(whole, { force: true });
  }
}

/** A lock with our own pid is abandoned, as this daemon never waits for itself, and so is one without any. */
async function isAbandoned(path: string): Promise<boolean> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  const [holder = 0, startTicks] = (text ?? "").split(" ").map(Number);
  if (text === undefined || !Number.isInteger(holder) || holder < 0) return false;
  return holder === 0 || holder === process.pid || !isAlive(holder, startTicks);
}

/** Another program may have got the number of one that has ended. */
function isAlive(osPid: number, startTicks: number | undefined): boolean {
  try {
    process.kill(osPid, 0);
    return startTicks === undefined || !hasProcfs || findProcess(osPid)?.startTicks === startTicks;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}
