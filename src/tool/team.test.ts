/** What the tools of teams check before anything acts: names, roles, and who may lead. */
import { expect, test, vi } from "vitest";
import { TEAM } from "../abi/child.ts";
import { O_RDWR } from "../abi/device.ts";
import { codeOf, Fault } from "../abi/errors.ts";
import { asFd, asPid } from "../abi/ids.ts";
import type { Syscalls } from "../abi/sys.ts";
import { toolDevice } from "./device.ts";
import { send } from "./send/send.ts";
import { teamCreate } from "./team_create/team_create.ts";
import { teamDelete } from "./team_delete/team_delete.ts";
import { Bench, CALL_ID, testScope } from "./testing/bench.ts";
import type { RunContext, Tool } from "./tool.ts";

interface Around {
  readonly self?: object;
  readonly others?: readonly object[];
  /** Groups that exist, and whether the caller sees them. */
  readonly groups?: Readonly<Record<string, boolean>>;
  /** What is left of earlier lists. */
  readonly lists?: Readonly<Record<string, number>>;
  readonly team?: string;
}

function caller({ self = {}, others = [], groups = {}, lists = {}, team }: Around = {}) {
  const kept = new Map<string, unknown>(team === undefined ? [] : [[TEAM, { name: team }]]);
  const joined: string[] = [];
  const asked: unknown[] = [];
  const fault = (code: "NOT_FOUND" | "PERMISSION") => new Fault({ code, message: "no" });
  const procs = [{ pid: 5, ppid: 0, groups: [], exit: null, ...self }, ...others] as { pid: number }[];
  const answer = () => {
    const list = joined.at(-1) ?? team ?? "own";
    const tasks = Array.from({ length: lists[list] ?? 0 }, (_, id) => ({ id: String(id) }));
    return new TextEncoder().encode(JSON.stringify({ ok: true, list, tasks, scratchpad: "/pads/1" }));
  };
  let isRead = false;
  const sys = {
    getPid: () => asPid(5),
    listProcs: async ({ after = -1, limit = 99 } = {}) =>
      procs.filter(({ pid }) => pid > after).slice(0, limit),
    getProcGroup: async (name: string) => {
      if (joined.includes(name)) return [asPid(5)];
      if (groups[name] !== true) throw fault("NOT_FOUND");
      return [asPid(1)];
    },
    joinGroup: async (_pid: number, name: string) => {
      if (name in groups) throw fault("PERMISSION");
      joined.push(name);
    },
    leaveGroup: async (_pid: number, name: string) => void joined.splice(joined.indexOf(name), 1),
    open: async () => {
      isRead = false;
      return asFd(4);
    },
    write: async (_fd: number, data: Uint8Array) => {
      isRead = false;
      asked.push(JSON.parse(new TextDecoder().decode(data)));
    },
    read: async () => {
      const bytes = isRead ? new Uint8Array() : answer();
      isRead = true;
      return bytes;
    },
    close: async () => {},
    send: vi.fn(async () => ({ seq: 1, ahead: 0 })),
    ended: async () => {
      throw fault("NOT_FOUND");
    },
  };
  const values = { get: (name: string) => kept.get(name), entries: () => kept };
  const context: RunContext = {
    ...testScope("/w"),
    kept: { ...values, set: (name, value) => void kept.set(name, value) },
    sys: sys as unknown as Syscalls,
    signal: new AbortController().signal,
    ...{ pid: asPid(5), callId: CALL_ID, now: () => 7, progress: () => {} },
  };
  const call = (tool: Tool, args: object) => tool.bind(args, testScope("/w")).run(context);
  return { call, kept, joined, asked, sys };
}

test("a team gets the name that was asked for, or the next that nobody has and no tasks were left under", async () => {
  const { call, kept, joined } = caller({ groups: { crew: true, "crew-2": false }, lists: { "crew-3": 2 } });
  const { text, meta } = await call(teamCreate, { team_name: "crew", description: "it" });
  expect(meta).toEqual({
    ...{ team_name: "crew-4", task_list_id: "crew-4" },
    config_path: "/var/teams/crew-4/config.json",
  });
  expect(text).toMatch(/^crew was taken\. Team crew-4 is there/);
  expect(joined).toEqual(["crew-4"]);
  expect(kept.get(TEAM)).toEqual({ name: "crew-4", description: "it", createdAt: 7 });
});

test("made again, after a daemon died in its middle, it takes the group that it had joined", async () => {
  const { call, kept, joined } = caller();
  joined.push("crew");
  const { text } = await call(teamCreate, { team_name: "crew" });
  expect(text).toMatch(/^Team crew is there, its tasks are list crew;/);
  expect([joined, kept.get(TEAM)]).toEqual([["crew"], expect.objectContaining({ name: "crew" })]);
});

test("where the settings say no team is made, the tool is switched off", async () => {
  using bench = new Bench([]);
  for (const [mayTeam, code] of [
    [true, undefined],
    [false, "UNAVAILABLE"],
  ] as const) {
    const device = toolDevice([teamCreate, teamDelete], { now: () => 0, mayTeam: () => mayTeam });
    const opened = device.open("/team_create", O_RDWR, bench.caller);
    expect(await opened.then(() => undefined, codeOf)).toBe(code);
    // one that exists can be ended
    await device.open("/team_delete", O_RDWR, bench.caller);
  }
});

test("no second team, none of a child, none of another spelling", async () => {
  for (const [around, name, code] of [
    [{ team: "crew" }, "other", "CONFLICT"],
    [{ self: { child: { call: "c", title: "t" } } }, "crew", "PERMISSION"],
    [{ self: { ppid: 2 } }, "crew", "PERMISSION"],
    [{}, "cr ew", "INVALID"],
    [{}, "../x", "INVALID"],
  ] as const) {
    const { call, joined } = caller(around);
    await expect(call(teamCreate, { team_name: name })).rejects.toMatchObject({ code });
    expect(joined).toEqual([]);
  }
});

const alice = { pid: 8, ppid: 5, groups: [], exit: null, child: { name: "alice", team: "crew" } };

test("it ends with its tasks once no member is there", async () => {
  const busy = caller({ team: "crew", others: [alice] });
  await expect(busy.call(teamDelete, {})).rejects.toMatchObject({ code: "CONFLICT" });
  const free = caller({ team: "crew", others: [{ ...alice, exit: {} }] });
  await free.call(teamDelete, {});
  expect(free.asked).toEqual([{ op: "list" }, { op: "clear" }]);
  expect(free.kept.get(TEAM)).toBeNull();
  await expect(caller().call(teamDelete, {})).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a message of the team is for one, from lead to member or back as its type says", async () => {
  const lead = caller({ team: "crew", others: [alice] });
  const ask = { to: "alice", message: { type: "shutdown_request", reason: "done" } };
  await lead.call(send, ask);
  const bytes = (lead.sys.send.mock.calls as unknown as [number, Uint8Array][])[0]![1];
  expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({
    ...{ type: "shutdown_request", request_id: `shutdown-${CALL_ID}`, reason: "done" },
  });
  const verdict = { type: "plan_approval_response", request_id: "plan-1", approve: false, feedback: "why?" };
  await lead.call(send, { to: "alice", message: verdict });
  expect(lead.asked).toEqual([
    { op: "answer", pid: 8, requestId: "plan-1", approve: false, feedback: "why?" },
  ]);
  const answer = { type: "shutdown_response", request_id: "s", approve: true };
  await expect(lead.call(send, { to: "alice", message: answer })).rejects.toMatchObject({ code: "INVALID" });
  const { approve: _, ...half } = verdict;
  await expect(lead.call(send, { to: "alice", message: half })).rejects.toMatchObject({ code: "INVALID" });
  expect(() => send.bind({ to: "alice", message: { type: "idle_notification" } }, testScope("/w"))).toThrow();
  // its own lead's pid is 2
  const self = { ppid: 2, child: { name: "bob", team: "crew" } };
  const member = caller({
    self,
    others: [
      { ...alice, ppid: 2 },
      { pid: 2, ppid: 0, groups: [], exit: null },
    ],
  });
  await expect(member.call(send, ask)).rejects.toMatchObject({ code: "INVALID" });
  await expect(member.call(send, { to: "8", message: answer })).rejects.toMatchObject({ code: "INVALID" });
  expect((await member.call(send, { to: "main", message: answer })).meta).toMatchObject({
    status: "leaving",
  });
});
