import { expect, test } from "vitest";
import { SIGNALS } from "../../../abi/process.ts";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { aProcess, FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const fault = (code: "TIMEOUT" | "NOT_FOUND") => new WireFault({ code, message: "…" });
const end = (pid: number) => ({
  pid,
  exit_code: 143,
  reason: "",
  kind: "killed",
  tokens_used: 0,
  elapsed_ms: 0,
});

/** A process 3 with a child 4; `stubborn` ones end by KILL alone, or not at all. */
function aTree(stubborn: readonly number[] = [], immortal: readonly number[] = [], rows = [aProcess()]) {
  const killed = new Set<number>();
  return new FakeDaemon({
    list_procs: () => ({ processes: rows }),
    "process.signal": (payload) => {
      const { pid, signal, tree } = payload as { pid: number; signal: number; tree?: boolean };
      if (pid === 9) return { pids: [] };
      if (pid === 8) throw fault("NOT_FOUND");
      const pids = tree === true ? [pid, pid + 1] : [pid];
      if (signal === SIGNALS.SIGKILL) for (const each of pids) killed.add(each);
      return { pids };
    },
    "process.wait": (payload) => {
      const { pid } = payload as { pid: number };
      if (immortal.includes(pid) || (stubborn.includes(pid) && !killed.has(pid))) throw fault("TIMEOUT");
      return end(pid);
    },
  });
}

const signals = (daemon: FakeDaemon) =>
  daemon.asked.filter(([method]) => method === "process.signal").map(([, payload]) => payload);

test("stop ends a process and all below it, and returns when they have ended", async () => {
  const daemon = aTree();
  expect(await crux("stop 3", { daemon })).toMatchObject({
    out: "[kernel] PID 3: stopped\n",
    err: "",
    code: 0,
  });
  expect(signals(daemon)).toEqual([{ pid: 3, signal: SIGNALS.SIGTERM, tree: true }]);
  expect(daemon.asked.filter(([method]) => method === "process.wait")).toHaveLength(2);
  expect(daemon.openConnections).toBe(0);
});

test("stop kills what ignores TERM, and nothing else", async () => {
  const daemon = aTree([4]);
  expect((await crux("stop 3", { daemon })).out).toBe("[kernel] PID 3: killed\n");
  expect(signals(daemon).slice(1)).toEqual([{ pid: 4, signal: SIGNALS.SIGKILL }]);
});

test("stop --force does not ask first; several pids are stopped in turn", async () => {
  const daemon = aTree();
  const { out } = await crux("stop 3 5 3 --force --json", { daemon });
  expect(JSON.parse(out).data).toEqual({
    stopped: [
      { pid: 3, how: "killed" },
      { pid: 5, how: "killed" },
    ],
  });
  expect(signals(daemon)[0]).toEqual({ pid: 3, signal: SIGNALS.SIGKILL, tree: true });
});

test("stop says what had ended, what is not there, and what cannot be ended; the others are stopped all the same", async () => {
  expect((await crux("stop 9", { daemon: aTree() })).out).toBe("[kernel] PID 9: had ended\n");
  const both = await crux("stop 8 3", { daemon: aTree() });
  expect([both.code, both.out]).toEqual([1, "[kernel] PID 3: stopped\n"]);
  expect(both.err).toMatch(/^✗ \[NOT_FOUND\]/);
  expect((await crux("stop 3", { daemon: aTree([], [3]) })).err).toContain(
    "process 3 has not ended 10 s after SIGKILL",
  );
});

test("stop without a pid stops nothing, and names the way to stop all", async () => {
  const { err, code, daemon } = await crux("stop");
  expect([code, daemon.reached]).toEqual([1, []]);
  expect(err).toContain("crux daemon stop ends all processes and the daemon");
  expect((await crux("stop 3x")).err).toContain("not a pid: 3x");
  expect((await crux("stop 9 -q", { daemon: aTree() })).out).toBe("");
});

test("stop takes the name of an agent for its pid", async () => {
  const rows = [aProcess({ pid: 3, called: "alice" })];
  const daemon = aTree([], [], rows);
  expect((await crux("stop alice", { daemon })).out).toBe("[kernel] PID 3: stopped\n");
  expect((await crux("stop bob", { daemon: aTree([], [], rows) })).err).toContain("no agent is called bob");
});
