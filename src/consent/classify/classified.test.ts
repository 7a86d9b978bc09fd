/** A call that a model judges: what it says counts, what it cannot say is a person's, and a classifier that fails ends the mode. */
import { describe, expect, test } from "vitest";
import type { Device } from "../../abi/device.ts";
import { DriverError } from "../../abi/errors.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Classifier, ClassifierRequest } from "../../kernel/ports/classifier.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Decision } from "../../kernel/ports/permit.ts";
import { guardedBench } from "../../kernel/testing/guarded.ts";
import { askWith, DENY } from "../../kernel/testing/scripted-permit.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { abortable } from "../../lib/abort.ts";

const JUDGED: Decision = {
  behavior: "ask",
  message: "may it?",
  always: null,
  isJudgeable: true,
  reason: { kind: "mode", detail: "mode auto" },
};

type Say = string | Error | "hang";

/** A model that says one after the other of these, then the last again. */
function judge(...says: readonly Say[]): { device: Device; asked: number; open: number } {
  const found = {
    asked: 0,
    open: 0,
    device: {
      name: "judge",
      traffic: "message" as const,
      async open() {
        found.open++;
        let said = "";
        return {
          plan: () => ({
            effects: [{ kind: "llm" as const, device: "/dev/llm/judge", maxTokens: 10 }],
            effectClass: "repeat" as const,
            reserve: { tokens: 10, usd: null },
          }),
          charge: () => ({ tokens: 7, usd: null }),
          write: async (_data: Uint8Array, { signal }: { readonly signal: AbortSignal }) => {
            const say = says[Math.min(found.asked++, says.length - 1)] ?? "";
            if (say === "hang") return abortable(new Promise<never>(() => {}), signal);
            if (say instanceof Error) throw say;
            said = reply(say);
          },
          read: async (length: number) => {
            const chunk = Buffer.from(said).subarray(0, length);
            said = said.slice(length);
            return chunk;
          },
          close: async () => void found.open--,
          stat: async () => ({ name: "judge", size: 0, isDevice: true, devicePath: "" }),
        };
      },
    },
  };
  return found;
}

const usage = {
  input_tokens: 5,
  output_tokens: 2,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const reply = (text: string): string =>
  [
    { type: "message_start", message: { id: "m", model: "judge-1", usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join("");

const REQUEST: ClassifierRequest = {
  system: [],
  messages: [{ role: "user", content: [{ type: "text", text: "judge" }] }],
  maxOutputTokens: 64,
  stopSequences: [],
};

const classifier: Classifier = {
  stages: () => "both",
  judgesPlan: () => true,
  lists: () => ({ allow: [], softDeny: [], environment: [] }),
  request: () => REQUEST,
  meaning: () => REQUEST,
  verdict: (text) => ({
    kind: text === "yes" || text === "ask" ? (text === "yes" ? "allow" : "ask") : "block",
    reason: text,
  }),
};

async function bench(says: readonly Say[], opts: SpawnOpts = {}, ports: Partial<KernelPorts> = {}) {
  const model = judge(...says);
  const made = await guardedBench(
    { permissionMode: "auto", ...opts },
    {
      classifier,
      models: {
        resolve: async () => ({ device: "/dev/llm/fake", model: "" }),
        classifierCard: () => ({ autoMode: true, maxInputTokens: 100_000 }),
      },
      ...ports,
    },
  );
  made.t.kernel.mount("/dev/llm/judge", model.device);
  made.proc.model.choose({ device: "/dev/llm/judge", model: made.proc.model.name });
  made.t.permit.answer = (_subject, { effects }) =>
    effects.some(({ kind }) => kind === "llm" || kind === "mode")
      ? { behavior: "allow", reason: { kind: "default", detail: "" } }
      : JUDGED;
  return { ...made, model, classified: () => made.t.journal.bodies("permit.classified") };
}

const said = (call: Promise<void>) =>
  call.then(
    () => "ran",
    (error: Error) => error.message,
  );
const BROKEN = new DriverError({ code: "DRIVER", op: "Write", message: "no answer" });

describe("a call in mode auto", () => {
  test("runs after one call of the model where that lets it, and nothing of it stays open", async () => {
    const b = await bench(["yes"]);
    expect(await said(b.call())).toBe("ran");
    expect([b.model.asked, b.model.open, b.tool.written]).toEqual([1, 0, ["{}"]]);
    expect(b.classified()).toMatchObject([{ tool: "edit", verdict: "allow", model: "judge-1", usage }]);
    expect(b.proc.used.tokens).toBe(7);
  });

  test("asks the second stage after a block, and is denied with the reason", async () => {
    const b = await bench(["no", "not that"]);
    expect(await said(b.call())).toBe(
      "Permission denied: the classifier judge-1 blocked this call of edit: not that",
    );
    expect([b.model.asked, b.tool.written]).toEqual([2, []]);
  });

  test("what the model leaves to the person is asked, with its words", async () => {
    const b = await bench(["no", "ask"], { interactive: true });
    const call = b.call();
    await settle();
    const [ask] = b.t.journal.bodies("permit.ask") as { requestId: string; reason: string }[];
    expect(ask?.reason).toBe("may it?; the classifier judge-1 leaves it to you: ask");
    await b.t.kernel.answer(ask!.requestId, "yes");
    await call;
    expect(b.tool.written).toEqual(["{}"]);
  });

  test("a model that does not answer in time is asked once more, then a person is; headless it is denied", async () => {
    const b = await bench(["hang"]);
    const call = said(b.call());
    await settle();
    await b.t.clock.advance(10_000);
    await settle();
    await b.t.clock.advance(10_000);
    expect(await call).toMatch(/may it\?; the classifier cannot judge edit: .*no answer within 10 s/);
    expect([b.model.asked, b.model.open, b.t.clock.pending]).toEqual([2, 0, 0]);
    expect(b.classified()).toMatchObject([{ unavailable: true, shouldBlock: true }]);
  });

  test("what is too long is not sent at all", async () => {
    const b = await bench(
      ["yes"],
      {},
      {
        models: {
          resolve: async () => ({ device: "/dev/llm/fake", model: "" }),
          classifierCard: () => ({ autoMode: true, maxInputTokens: 1 }),
        },
      },
    );
    expect(await said(b.call())).toMatch(/the classifier cannot judge edit: the conversation is too long/);
    expect(b.model.asked).toBe(0);
    expect(b.classified()).toMatchObject([{ transcriptTooLong: true }]);
    expect(b.t.journal.bodies("permit.circuit")).toEqual([]);
  });

  test("a deny that comes while it is judged wins", async () => {
    const b = await bench(["yes"]);
    let asked = 0;
    const before = b.t.permit.answer;
    b.t.permit.answer = (subject, request) => {
      if (request.effects.some(({ kind }) => kind === "llm")) return before(subject, request);
      return asked++ === 0 ? JUDGED : DENY;
    };
    expect(await said(b.call())).toBe("Permission denied: rule test");
    expect(b.tool.written).toEqual([]);
  });

  test("a hard question is never shown to the model", async () => {
    const b = await bench(["yes"]);
    b.t.permit.answer = () => ({ ...askWith(null), isHard: true }) as Decision;
    expect(await said(b.call())).toMatch(/^Permission denied: may it\?/);
    expect(b.model.asked).toBe(0);
  });

  test("five failures in a row end the mode of the session, and it is not entered again", async () => {
    const b = await bench([BROKEN], { interactive: true });
    for (let n = 1; n <= 5; n++) {
      expect(b.proc.mode).toBe("auto");
      const call = b.call();
      await settle();
      const asks = b.t.journal.bodies("permit.ask") as { requestId: string }[];
      await b.t.kernel.answer(asks.at(-1)!.requestId, "yes");
      await call;
    }
    expect(b.model.asked).toBe(10);
    expect(b.proc.mode).toBe("default");
    expect(b.t.journal.bodies("permit.circuit").at(-1)).toEqual({ failures: 5, isBroken: true });
    expect(b.t.journal.bodies("mode.set").at(-1)).toMatchObject({
      mode: "default",
      by: { principal: "kernel" },
    });
    await expect(b.t.kernel.rights.mode(b.pid, { mode: "auto", by: BY })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  test("one answer in between counts the failures anew", async () => {
    const b = await bench([BROKEN, BROKEN, "yes"], { interactive: true });
    const call = b.call();
    await settle();
    const [ask] = b.t.journal.bodies("permit.ask") as { requestId: string }[];
    await b.t.kernel.answer(ask!.requestId, "yes");
    await call;
    await b.call();
    expect(b.t.journal.bodies("permit.circuit")).toEqual([
      { failures: 1, isBroken: false },
      { failures: 0, isBroken: false },
    ]);
  });

  test("after three blocks in a row the next is a person's, not the model's", async () => {
    const b = await bench(["no"], { interactive: true });
    for (let n = 0; n < 3; n++) await said(b.call());
    const { asked } = b.model;
    const call = b.call();
    await settle();
    const [ask] = b.t.journal.bodies("permit.ask") as { requestId: string }[];
    await b.t.kernel.answer(ask!.requestId, "yes");
    await call;
    expect([asked, b.model.asked]).toEqual([6, 6]);
  });

  test("a call that is given up while it is judged is CANCELLED, and the model call ends with it", async () => {
    const b = await bench(["hang"]);
    const stop = new AbortController();
    const call = b.sys.write(b.fd, Buffer.from("{}"), stop.signal);
    await settle();
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    expect([b.model.open, b.t.clock.pending, b.tool.written]).toEqual([0, 0, []]);
  });
});

describe("mode auto", () => {
  const unfit = {
    resolve: async () => ({ device: "/dev/llm/fake", model: "" }),
    classifierCard: () => ({ autoMode: false, maxInputTokens: 1 }),
  };

  test("is UNAVAILABLE where the model may not judge: at the start, and later", async () => {
    await expect(bench(["yes"], {}, { models: unfit })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const b = await bench(["yes"], { permissionMode: "default" }, { models: unfit });
    await expect(b.t.kernel.rights.mode(b.pid, { mode: "auto", by: BY })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    expect(b.proc.mode).toBe("default");
  });
});

const BY = { principal: "user", client: "", uid: null } as const;
