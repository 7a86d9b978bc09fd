import { expect, test } from "vitest";
import { Fault } from "../abi/errors.ts";
import { asPid } from "../abi/ids.ts";
import type { OwnSendOptions } from "../abi/sys.ts";
import { type FakeOptions, FakeProcess, type Kept, restoredFrom } from "./testing/fake-process.ts";
import { call, reply } from "./testing/replies.ts";

const agree = {
  run: () => ({
    ok: true,
    content: [{ type: "text" as const, text: "Say your last word." }],
    meta: { status: "leaving" },
  }),
};

/** A member of a team; `naps`: what comes while it has nothing to do, one sleep after another. */
function member(
  { isLeadGone = false, ...options }: FakeOptions & { readonly isLeadGone?: boolean },
  naps: readonly ((process: FakeProcess) => void)[],
) {
  const process = new FakeProcess({ tools: { view: agree }, ...options });
  const told: string[] = [];
  const left = [...naps];
  Object.assign(process.start, { team: { name: "alice", lead: asPid(9) } });
  Object.assign(process.sys, {
    send: async (to: number, data: Uint8Array, _signal: unknown, options: OwnSendOptions) => {
      if (isLeadGone) throw new Fault({ code: "NOT_FOUND", message: "process has ended: 9" });
      process.history.push({ kind: "state", state: options.withCheckpoint }, { kind: "effect" });
      told.push(`${to} ${new TextDecoder().decode(data)}`);
    },
    sleep: async () => {
      if (process.activities.at(-1) !== "idle") throw new Error("it sleeps and is not idle");
      const next = left.shift();
      if (next === undefined) throw new Error("nothing more comes");
      next(process);
      process.sys.ending.throwIfAborted();
    },
  });
  return { process, told };
}

const idle = (summary: string) =>
  `9 {"type":"idle_notification","name":"alice","reason":"available","summary":"${summary}"}`;

test("a member tells its lead that it has nothing to do, reads what comes, and ends once it has agreed to", async () => {
  const { process, told } = member(
    { answers: [reply("one"), reply("two"), reply([call("view", { file_path: "a" })]), reply("bye")] },
    [(it) => it.receive(3, "and two"), (it) => it.receive(9, "the end?")],
  );
  expect(await process.run()).toMatchObject({ code: 0 });
  expect(told).toEqual([idle("one"), idle("two")]);
  expect(process.result).toBe("bye");
});

test("told once for each time of rest, also when its daemon ends meanwhile", async () => {
  const first = member({ answers: [reply("one")] }, [(it) => it.end()]);
  await first.process.run();
  expect(first.told).toEqual([idle("one")]);
  // the record that it has told goes to the disk with the message
  const at = first.process.history.findLastIndex(({ kind }: Kept) => kind === "effect");
  expect(first.process.history[at - 1]).toMatchObject({ kind: "state", state: { isIdle: true } });
  const isIdle = ({ kind, state }: Kept & { state?: unknown }) =>
    kind === "state" && (state as { isIdle?: true }).isIdle === true;
  expect(first.process.history.filter(isIdle)).toHaveLength(1);
  const again = member({ answers: [reply("two")], ...restoredFrom(first.process.history) }, [
    (it) => it.receive(3, "and two"),
    (it) => it.end(),
  ]);
  await again.process.run();
  expect(again.told).toEqual([idle("two")]);
});

test("a lead that cannot be told is not told again by the next daemon", async () => {
  const first = member({ answers: [reply("one")], isLeadGone: true }, [(it) => it.end()]);
  await first.process.run();
  expect(first.process.history.at(-1)).toMatchObject({ kind: "state", state: { isIdle: true } });
  const again = member({ answers: [], ...restoredFrom(first.process.history) }, [(it) => it.end()]);
  await again.process.run();
  expect(again.told).toEqual([]);
});

test("an agent in no team ends with its last word", async () => {
  const { process, told } = member({ answers: [reply("one")] }, []);
  Object.assign(process.start, { team: undefined });
  expect(await process.run()).toMatchObject({ code: 0 });
  expect(told).toEqual([]);
});
