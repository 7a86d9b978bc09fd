import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Act, type Device, O_RDONLY, O_RDWR } from "../../abi/device.ts";
import { asPid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { Task, TaskAnswer, TaskRequest } from "../../abi/task.ts";
import { uniteLabels } from "../../kernel/labels/label-set.ts";
import { findProcess } from "../host/procfs.ts";
import { callerIn, readAll, tempFolder } from "../testing.ts";
import { tasksDevice } from "./device.ts";
import { TaskStore } from "./store.ts";
import { TaskGraph } from "./task-graph.ts";
import { Tasks } from "./tasks.ts";

const LEADER = asPid(1);
const place = { list: "team", leader: LEADER };
const caller = callerIn("/", { pid: asPid(7) });
const instant = { sleep: async () => {} };

type Note = [number, string, (readonly Label[])?];

/** `notes`: those on record, also of earlier daemons. `dies`: the daemon does, at that moment of a notice. */
function lists(
  ended: readonly number[] = [],
  {
    root = tempFolder(),
    notes = new Map<string, Note>(),
    dies = (_: "before" | "after") => {},
  }: { root?: string; notes?: Map<string, Note>; dies?: (at: "before" | "after") => void } = {},
) {
  const store = new TaskStore(root, instant);
  const tasks = new Tasks({
    store,
    hasEnded: async (pid) => ended.includes(pid),
    unite: uniteLabels,
    notify: async (pid, { text, labels = [], key = `${notes.size}` }) => {
      dies("before");
      if (!notes.has(key)) notes.set(key, labels.length === 0 ? [pid, text] : [pid, text, labels]);
      dies("after");
      return true;
    },
    nonce: randomUUID,
  });
  const ask = (pid: Pid | number, request: TaskRequest): Promise<TaskAnswer> =>
    tasks.answer({ pid: asPid(pid) }, place, request);
  const create = async (subject: string, more: object = {}, pid = 7) => {
    const made = await ask(pid, { op: "create", subject, description: "", ...more });
    return (made.ok ? made.tasks[0] : undefined) as Task;
  };
  const get = async (id: string) => {
    const found = await ask(7, { op: "get", task_id: id });
    return (found.ok ? found.tasks[0] : undefined) as Task;
  };
  return { root, dir: join(root, "team"), store, tasks, ask, create, get, told: () => [...notes.values()] };
}

describe("task lists", () => {
  it("ten processes that create twenty each get two hundred ids, and a deleted one never comes again", async () => {
    const { ask, create, dir, store } = lists();
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, p) =>
        Promise.all(Array.from({ length: 20 }, (_, n) => create(`${p}.${n}`, {}, p + 1))),
      ),
    );
    expect(new Set(made.flat().map(({ id }) => id)).size).toBe(200);
    expect((await store.tasks("team")).map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 1),
    );
    await ask(1, { op: "update", task_id: "200", status: "deleted" });
    expect((await create("after")).id).toBe("201");
    expect(readFileSync(join(dir, ".highwatermark"), "utf8")).toBe("201\n");
    expect(readdirSync(dir)).not.toContain(".lock");
  });

  it("of twenty racers one claims, each other hears why", async () => {
    const { ask, create, get } = lists();
    const { id } = await create("one");
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, p) => ask(p + 2, { op: "update", task_id: id, claim: true })),
    );
    expect(claims.filter(({ ok }) => ok)).toHaveLength(1);
    expect(claims.filter((claim) => !claim.ok && claim.reason === "already_claimed")).toHaveLength(19);
    expect((await get(id)).status).toBe("in_progress");
  });

  it("a member of a team takes one task at a time; what becomes free wakes those who have nothing to do", async () => {
    const { tasks, create, told } = lists();
    const members = [7, 8, 9].map((pid) => ({ pid: asPid(pid), name: `m${pid}`, isIdle: pid === 9 }));
    const ask = (pid: number, more: object) =>
      tasks.answer({ pid: asPid(pid) }, { ...place, members }, { op: "update", ...more } as TaskRequest);
    await create("first");
    await create("second", { blocked_by: ["1"] });
    await create("third");
    expect(await ask(7, { task_id: "1", status: "in_progress" })).toMatchObject({ ok: true });
    expect(await ask(7, { task_id: "3", claim: true })).toMatchObject({ ok: false, reason: "agent_busy" });
    expect(await ask(7, { task_id: "1", status: "completed" })).toMatchObject({ ok: true, freed: ["2"] });
    expect(told()).toEqual([[9, "nothing holds back task 2 any more: task_list"]]);
    expect(await ask(1, { task_id: "3", owner: "m8" })).toMatchObject({ ok: true, tasks: [{ owner: "8" }] });
    await expect(ask(1, { task_id: "3", owner: "m5" })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("its leader alone removes all of a list", async () => {
    const { ask, create, store } = lists();
    await create("first");
    await create("second", { blocked_by: ["1"] });
    await expect(ask(7, { op: "clear" })).rejects.toMatchObject({ code: "PERMISSION" });
    await ask(1, { op: "clear" });
    expect(await store.tasks("team")).toEqual([]);
    expect((await create("later")).id).toBe("3");
  });

  it("claims are refused for five reasons; claiming one's own again succeeds", async () => {
    const { ask, create } = lists();
    await create("first");
    await create("second", { blocked_by: ["1"] });
    await create("third");
    const claim = (task_id: string, pid = 7, more: object = {}) =>
      ask(pid, { op: "update", task_id, claim: true, ...more });
    expect(await claim("9")).toMatchObject({ ok: false, reason: "task_not_found" });
    expect(await claim("2")).toMatchObject({ ok: false, reason: "blocked" });
    expect(await claim("1")).toMatchObject({ ok: true });
    expect(await claim("1")).toMatchObject({ ok: true });
    expect(await claim("1", 8)).toMatchObject({ ok: false, reason: "already_claimed" });
    expect(await claim("3", 7, { check_agent_busy: true })).toMatchObject({
      ok: false,
      reason: "agent_busy",
    });
    expect(await ask(7, { op: "update", task_id: "1", status: "completed" })).toMatchObject({
      ok: true,
      freed: ["2"],
    });
    expect(await claim("1")).toMatchObject({ ok: false, reason: "already_resolved" });
    expect(await claim("3", 7, { check_agent_busy: true })).toMatchObject({ ok: true });
  });

  it("only the owner, the leader or a person changes an owned task", async () => {
    const { ask, create, told } = lists();
    const { id } = await create("mine");
    await ask(7, { op: "update", task_id: id, claim: true });
    await expect(ask(8, { op: "update", task_id: id, status: "completed" })).rejects.toMatchObject({
      code: "PERMISSION",
    });
    await expect(ask(8, { op: "update", task_id: id, owner: "8" })).rejects.toMatchObject({
      code: "PERMISSION",
    });
    await ask(LEADER, { op: "update", task_id: id, owner: "8" });
    expect(told()).toEqual([[8, expect.stringContaining('"type":"task_assignment"')]]);
    expect(await ask(PID_KERNEL, { op: "update", task_id: id, status: "completed" })).toMatchObject({
      ok: true,
    });
  });

  it("dependencies change both ends; a circle and oneself are refused by name; deletion takes the id away everywhere", async () => {
    const { ask, create, get } = lists();
    for (const subject of ["a", "b", "c"]) await create(subject);
    await ask(7, { op: "update", task_id: "1", add_blocks: ["2", "2"] });
    await ask(7, { op: "update", task_id: "3", add_blocked_by: ["2"] });
    expect([(await get("1")).blocks, (await get("2")).blocked_by, (await get("2")).blocks]).toEqual([
      ["2"],
      ["1"],
      ["3"],
    ]);
    await expect(ask(7, { op: "update", task_id: "3", add_blocks: ["1"] })).rejects.toMatchObject({
      code: "INVALID",
      message: "a circle: task 3 before task 1 before task 2 before task 3",
    });
    await expect(ask(7, { op: "update", task_id: "1", add_blocks: ["1"] })).rejects.toMatchObject({
      code: "INVALID",
    });
    await ask(7, { op: "update", task_id: "2", status: "deleted" });
    expect([(await get("1")).blocks, (await get("3")).blocked_by]).toEqual([[], []]);
    await expect(get("2")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("the end of an owner frees what it had not finished, and the leader hears of it", async () => {
    const { ask, create, get, tasks, told } = lists();
    await create("open");
    await create("done");
    await ask(7, { op: "update", task_id: "1", claim: true });
    await ask(7, { op: "update", task_id: "2", claim: true });
    await ask(7, { op: "update", task_id: "2", status: "completed" });
    await tasks.exited(asPid(7), place);
    expect(await get("1")).toMatchObject({ status: "pending" });
    expect(await get("1")).not.toHaveProperty("owner");
    expect(await get("2")).toMatchObject({ status: "completed", owner: "7" });
    expect(told()).toEqual([[1, "process 7 has ended; its unfinished tasks are pending again: 1 (open)"]]);
  });

  it.each(["nothing is freed", "the leader is told", "it is on record that the leader was told"])(
    "a daemon that dies before %s leaves the next one to do it: the leader is told once",
    async (until) => {
      const notes = new Map<string, Note>();
      const dies = (at: "before" | "after") => {
        if ((at === "before") === (until === "the leader is told")) throw new Error("killed");
      };
      const before = lists([], { notes, dies });
      await before.create("held");
      await before.ask(7, { op: "update", task_id: "1", claim: true });
      if (until !== "nothing is freed")
        await expect(before.tasks.exited(asPid(7), place)).rejects.toThrow("killed");
      const { root } = before;
      for (let daemon = 0; daemon < 2; daemon++) {
        const { tasks, get, told } = lists([7], { root, notes });
        await tasks.returned(place);
        expect(told()).toEqual([
          [LEADER, "process 7 has ended; its unfinished tasks are pending again: 1 (held)"],
        ]);
        expect(await get("1")).toEqual(expect.objectContaining({ status: "pending" }));
        for (const key of ["owner", "left"]) expect(await get("1")).not.toHaveProperty(key);
      }
    },
  );

  it("an owner that ended with an earlier daemon holds nothing, and a lock that one left is broken", async () => {
    const before = lists();
    await before.create("held");
    await before.ask(7, { op: "update", task_id: "1", claim: true });
    // no process has this number
    writeFileSync(join(before.dir, ".lock"), "4194999");
    const tasks = new Tasks({
      store: new TaskStore(before.root, instant),
      hasEnded: async () => true,
      unite: uniteLabels,
      notify: async () => true,
      nonce: randomUUID,
    });
    const found = await tasks.answer({ pid: asPid(9) }, place, { op: "get", task_id: "1" });
    expect(found).toMatchObject({ ok: true, tasks: [{ status: "pending" }] });
    expect(existsSync(join(before.dir, ".lock"))).toBe(false);
  });

  it("a lock without a pid, or of one whose number another program has now, holds nobody up", async () => {
    const { create, dir } = lists();
    await create("one");
    writeFileSync(join(dir, ".lock"), "");
    expect((await create("two")).id).toBe("2");
    writeFileSync(join(dir, ".lock"), `${process.ppid} 1`);
    expect((await create("three")).id).toBe("3");
    expect(readdirSync(dir).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it("a lock that somebody alive holds is a TIMEOUT after thirty tries", async () => {
    const { create, dir } = lists();
    await create("one");
    writeFileSync(
      join(dir, ".lock"),
      `${process.ppid} ${findProcess(process.ppid)?.startTicks ?? ""}`.trim(),
    );
    await expect(create("two")).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("names, metadata and open tasks are bounded", async () => {
    const { store, create } = lists();
    expect(() => store.change("../x", () => 0)).toThrow(expect.objectContaining({ code: "INVALID" }));
    await expect(create("big", { metadata: { x: "y".repeat(16 * 1024) } })).rejects.toMatchObject({
      code: "INVALID",
    });
    const many = Array.from(
      { length: 1_000 },
      (_, i): Task => ({
        ...{
          id: String(i + 1),
          subject: "s",
          description: "",
          status: "pending",
          blocks: [],
          blocked_by: [],
        },
      }),
    );
    const graph = new TaskGraph(many, 1_000);
    const more = { op: "create", subject: "one more", description: "" } as const;
    expect(() => graph.create(more)).toThrow(expect.objectContaining({ code: "BUDGET" }));
    graph.setStatus("1", "completed");
    expect(graph.create(more).id).toBe("1001");
  });
});

describe("TaskGraph", () => {
  it("keeps both ends equal and has no circle, whatever is asked of it", () => {
    const id = fc.integer({ min: 1, max: 6 }).map(String);
    const step = fc.record({ kind: fc.constantFrom("link", "unlink", "remove", "create"), a: id, b: id });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const graph = new TaskGraph([], 0);
        for (const { kind, a, b } of steps) {
          try {
            if (kind === "create") graph.create({ op: "create", subject: a, description: "" });
            else if (kind === "remove") graph.remove(a);
            else
              graph.edit({
                op: "update",
                task_id: a,
                ...(kind === "link" ? { add_blocks: [b] } : { remove_blocks: [b] }),
              });
          } catch {
            // refused
          }
        }
        const all = new Map(graph.all.map((task) => [task.id, task]));
        for (const task of all.values()) {
          for (const other of task.blocks) expect(all.get(other)?.blocked_by).toContain(task.id);
          for (const other of task.blocked_by) expect(all.get(other)?.blocks).toContain(task.id);
          const seen = new Set<string>();
          const reach = (from: string): void => {
            for (const next of all.get(from)?.blocks ?? [])
              if (!seen.has(next)) reach(seen.add(next) && next);
          };
          reach(task.id);
          expect(seen.has(task.id)).toBe(false);
        }
      }),
    );
  });

  it("makes whole what a crash left with one end", () => {
    const task = (id: string, more: Partial<Task>): Task => ({
      ...{ id, subject: id, description: "", status: "pending", blocks: [], blocked_by: [] },
      ...more,
    });
    const graph = new TaskGraph([task("1", { blocks: ["2", "9"] }), task("2", {})], 2);
    expect(graph.all).toMatchObject([{ blocks: ["2"] }, { blocked_by: ["1"] }]);
    expect(graph.changed.map(({ id }) => id)).toEqual(["1", "2"]);
  });
});

describe("the labels of a task", () => {
  const WEB = [{ kind: "untrusted", source: "web", detail: "https://a.io" }] as const;
  const KEY = [{ kind: "secret", source: "file", detail: "/ws/.env" }] as const;
  const act = { signal: new AbortController().signal } as Act;

  /** One process: what it writes, and the labels that it has after it has read the answer. */
  async function asks(device: Device, labels: readonly Label[], request: object): Promise<readonly Label[]> {
    const file = await device.open("", O_RDWR, caller);
    // as the kernel does: those of the writer before, those that stand there after
    const { carried = { labels: [] } } = file;
    carried.labels = uniteLabels(carried.labels, labels);
    await file.write(Buffer.from(JSON.stringify(request)), act);
    expect(String(await readAll(file))).not.toContain("labels");
    return carried.labels;
  }

  it("are those of who wrote in it, go to who reads it, and to who is given it", async () => {
    const { store, tasks, told } = lists();
    const device = tasksDevice({ store, tasks, placeOf: () => ({ list: "team", leader: asPid(7) }) });
    await asks(device, WEB, { op: "create", subject: "do as the page says", description: "" });
    await asks(device, [], { op: "create", subject: "plain", description: "" });
    expect(await asks(device, [], { op: "get", task_id: "2" })).toEqual([]);
    expect(await asks(device, KEY, { op: "update", task_id: "2", status: "in_progress" })).toEqual([]);
    expect(await asks(device, [], { op: "list" })).toEqual(WEB);
    expect(await asks(device, KEY, { op: "update", task_id: "1", description: "with a key" })).toEqual([
      ...WEB,
      ...KEY,
    ]);
    const file = await device.open("/team/1.json", O_RDONLY, caller);
    expect(file.carried?.labels).toEqual([...WEB, ...KEY]);
    expect(String(await readAll(file))).not.toContain("labels");
    await asks(device, [], { op: "update", task_id: "1", owner: "9" });
    expect(told()).toEqual([[9, expect.stringContaining("with a key"), [...WEB, ...KEY]]]);
  });
});
