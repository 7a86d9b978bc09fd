/** Messages that are taken back, interrupted and sent again while the kernel reads them: none is lost, none is read twice. */
import { expect, test } from "vitest";
import { codeOf } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT, type Signal } from "../../abi/process.ts";
import type { Program } from "../../abi/program.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import { ChatClient } from "../../cli/chat/client.ts";
import type { DaemonAccess } from "../../cli/daemon/client.ts";
import { en } from "../../cli/screen/words/en.ts";
import { type TestKernel, testKernel, text } from "../../kernel/testing/test-kernel.ts";
import { EMPTY, type Model } from "./model.ts";
import { reduce } from "./reduce.ts";

/** How often one is taken back, or its run interrupted, and another sent. */
const TIMES = 1_000;
const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

/** The same numbers each time, from 0 up to `below`. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Reads as a session does: a message begins a run, and those that come meanwhile join it between its steps. */
function reader(read: string[], upTo: (below: number) => number): Program {
  return async (sys) => {
    while (!sys.ending.aborted) {
      const { seq, from, client = "", data } = await sys.recv({}, sys.ending);
      read.push(text(data));
      const run = sys.beginRun({ seq, from, client, text: text(data) }, true);
      for (let steps = upTo(6); steps > 0 && !run.ending.aborted; steps--) {
        await turn();
        if (upTo(4) > 0) continue;
        while (sys.hasMail() && !run.ending.aborted) {
          const more = await sys.recv({ timeoutMs: 0 }, sys.ending);
          read.push(text(more.data));
          run.joinRun({ seq: more.seq, from: more.from, client: more.client ?? "", text: text(more.data) });
        }
      }
      await sys.endRun(run.ending.aborted ? "aborted_streaming" : "completed", EXIT.completed);
    }
    return EXIT.completed;
  };
}

interface Wanted {
  readonly pid: number;
  readonly seq: number;
  readonly text: string;
  readonly client: string;
  readonly signal: Signal;
}

/** The methods that the client of a conversation uses, answered by a kernel in memory. */
function accessTo({ kernel, init }: TestKernel): DaemonAccess {
  const never = new AbortController().signal;
  const methods: Record<string, (params: Wanted) => Promise<unknown>> = {
    "session.say": ({ pid, text: words, client }) =>
      init.send(asPid(pid), Buffer.from(words), never, { client }),
    "session.withdraw": ({ pid, seq }) => kernel.sessions.withdraw(asPid(pid), seq),
    kill: ({ pid, signal }) => init.kill(asPid(pid), signal),
  };
  const client = {
    request: (method: string, params: Wanted) => methods[method]?.(params),
    close: () => {},
  };
  return { ensure: async () => client } as unknown as DaemonAccess;
}

test(`taken back or interrupted and sent again ${TIMES} times: no message is lost, and none is read or shown twice`, async () => {
  const t = testKernel();
  const upTo = numbers(17);
  const read: string[] = [];
  t.programs.set("", reader(read, upTo));
  const client = new ChatClient(accessTo(t));
  const { pid, events } = await t.kernel.spawnWatched("", null, { session: true });
  let model: Model = EMPTY;
  const shown: string[] = [];
  void (async () => {
    for await (const event of events) {
      model = reduce(model, event as unknown as WireEvent, { words: en, client: client.name, mono: 0 });
      const last = model.entries.at(-1);
      if (event.event === "input" && last?.kind === "user") shown.push(last.text);
    }
  })();
  const done = { again: 0, late: 0, interrupted: 0 };
  /** ↑ in an empty editor, then Enter. */
  const again = async (): Promise<void> => {
    const last = model.queued.findLast(({ isMine, seq }) => isMine && seq > 0);
    if (last === undefined) return;
    try {
      await client.withdraw(pid, last.seq);
      await client.say(pid, last.text);
      done.again++;
    } catch (error) {
      // it was read meanwhile, and stays sent
      expect(codeOf(error)).toBe("CONFLICT");
      done.late++;
    }
  };
  const said: string[] = [];
  while (done.again + done.interrupted < TIMES) {
    said.push(`message ${said.length}`);
    await client.say(pid, said.at(-1) ?? "");
    for (let turns = 1 + upTo(2); turns > 0; turns--) await turn();
    const what = upTo(4);
    if (what === 0) await client.interrupt(pid);
    if (what === 0) done.interrupted++;
    if (what >= 2) await again();
  }
  while (model.queued.length > 0 || model.activity !== undefined) await turn();
  expect(read.toSorted()).toEqual(said.toSorted());
  expect(shown).toEqual(read);
  expect(Math.min(done.again, done.interrupted)).toBeGreaterThan(0);
});
