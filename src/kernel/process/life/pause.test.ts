/** A pause is not to be seen afterwards: neither one of the user's nor one that a later daemon ends. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { asProcUuid, type Pid } from "../../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../../abi/process.ts";
import type { Program } from "../../../abi/program.ts";
import { MessageDevice } from "../../testing/fake-devices.ts";
import { bytes, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

const CALLS = 6;

interface Life {
  readonly t: TestKernel;
  readonly pid: Pid;
}

/** What was done outside, however many daemons did it. */
type Effects = string[];

/** Makes one call after another, and keeps each with its result before it goes on, as the loop does. */
const program: Program = async (sys, { ctxId, restored }) => {
  const fd = await sys.open("/bin/edit", 2);
  for (let n = (restored?.state as { n: number } | null)?.n ?? 0; n < CALLS; n++) {
    await sys.write(fd, bytes(`call ${n}`));
    const answer = await sys.read(fd, 100);
    await sys.unit(async () => {
      await sys.appendMessage(ctxId, "assistant", `call ${n}`);
      await sys.appendMessage(ctxId, "user", `result of ${Buffer.from(answer)}`);
      sys.checkpoint({ n: n + 1 });
    });
  }
  return EXIT.completed;
};

let generation = 0;

function daemon(effects: Effects, before?: TestKernel): TestKernel {
  generation++;
  let named = 0;
  const name = () => `${generation}`.padStart(4, "0") + `${++named}`.padStart(12, "0");
  const t = testKernel({ nonce: name, uuid: () => asProcUuid(`00000000-${name()}`) }, before?.journal);
  const tool = new MessageDevice("edit");
  tool.script.act = async (data) => {
    await settle(1);
    effects.push(Buffer.from(data).toString());
  };
  t.kernel.mount("/bin/edit", tool);
  t.programs.set("work", program);
  return t;
}

async function begun(effects: Effects): Promise<Life> {
  const t = daemon(effects);
  return { t, pid: await t.init.spawn("work", null) };
}

/** The next daemon, after the one before was killed while the process was paused and had nothing under way. */
async function later({ t, pid }: Life, effects: Effects): Promise<Life> {
  await settle(20);
  await t.journal.sync();
  t.journal.crash();
  const next = daemon(effects, t);
  await next.kernel.recover();
  await settle(8);
  return { t: next, pid };
}

/** The messages that are on record, in all its lives. */
async function transcriptOf({ t, pid }: Life): Promise<unknown> {
  expect(await t.init.wait(pid)).toMatchObject(EXIT.completed);
  await t.journal.sync();
  return t.journal.records
    .filter((record) => record.pid === pid && record.kind === "ctx.record")
    .map(({ body }) => body);
}

interface Pause {
  /** Rounds of the event loop before it, and in it. */
  readonly after: number;
  readonly lasts: number;
  readonly isRestarted: boolean;
}

test("a run that is paused at any moments, and whose daemon dies in some of them, has the transcript and effects of one that is not", async () => {
  const plain: Effects = [];
  const wanted = await transcriptOf(await begun(plain));
  expect(plain).toEqual(Array.from({ length: CALLS }, (_, n) => `call ${n}`));
  const pause: fc.Arbitrary<Pause> = fc.record({
    after: fc.nat(6),
    lasts: fc.nat(6),
    isRestarted: fc.boolean(),
  });
  let met = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(pause, { minLength: 1, maxLength: 5 }), async (pauses) => {
      const effects: Effects = [];
      let life = await begun(effects);
      for (const { after, lasts, isRestarted } of pauses) {
        for (let n = 0; n < after; n++) await Promise.resolve();
        if (!life.t.kernel.table.get(life.pid)?.isLive) break;
        await life.t.init.kill(life.pid, SIGNALS.SIGPAUSE);
        await settle(lasts);
        if (!life.t.kernel.table.get(life.pid)?.isLive) break;
        met++;
        if (isRestarted) life = await later(life, effects);
        await life.t.init.kill(life.pid, SIGNALS.SIGRESUME);
      }
      expect(await transcriptOf(life)).toEqual(wanted);
      expect(effects).toEqual(plain);
    }),
    { numRuns: 150, seed: 18 },
  );
  expect(met).toBeGreaterThan(100);
});
