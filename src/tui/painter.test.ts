import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamEvent } from "../abi/llm.ts";
import type { WireEvent } from "../abi/wire-events.ts";
import { en } from "../cli/screen/words/en.ts";
import type { App } from "./app.ts";
import { NEW } from "./editor/edit.ts";
import { Painter } from "./painter.ts";
import { lostModel } from "./state/catch-up.ts";
import { EMPTY, type Model } from "./state/model.ts";
import { notice, reduce } from "./state/reduce.ts";
import { textOf } from "./text/line.ts";
import { themeOf } from "./text/theme.ts";
import { entryLines } from "./view/entry-lines.ts";

const { Terminal } = createRequire(import.meta.url)("@xterm/headless") as typeof import("@xterm/headless");
const usage = {
  ...{ input_tokens: 5, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
};

/** A conversation in a terminal of so many columns and rows, with as much of the interactive terminal as draws it. */
function aConversation(columns: number, rows: number) {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true });
  const base = { theme: themeOf("dark", 256), words: en, isUnfolded: false };
  let taken = Promise.resolve();
  const app = {
    call: {
      host: {
        env: {},
        stdout: {
          write: (text: string, done: () => void) => {
            const last = Promise.withResolvers<void>();
            taken = last.promise;
            terminal.write(text, () => {
              done();
              last.resolve();
            });
            return true;
          },
        },
      },
    },
    box: { isOpen: false, settle: () => {}, rows: () => undefined, drawn: () => {} },
    overlay: { isOpen: false },
    model: { ...EMPTY, link: "connected" } as Model,
    appearance: { highlighter: { isLoading: false } },
    status: { saw: () => {}, lines: () => [], isOn: false },
    look: { ...base, width: columns - 1 },
    size: { columns, rows },
    editing: NEW,
    actions: { suggestions: { offers: () => ({ items: [], at: 0, mark: "" }) }, panel: { lines: () => [] } },
    ...{ below: [], shownHint: "", preferences: { reducesMotion: true }, isRunning: false, nowMono: 0 },
  };
  const painter = new Painter(app as unknown as App);
  const tell = (event: object): void => {
    app.model = reduce(app.model, { pid: 1, ...event } as WireEvent, { words: en, client: "me", mono: 0 });
  };
  const piece = (event: StreamEvent): void => tell({ event: "delta", piece: event });
  return {
    app,
    painter,
    tell,
    begin: (...before: readonly string[]): void => {
      piece({ type: "message_start", message: { id: "m", model: "x", usage } });
      for (const [index, thinking] of before.entries())
        piece({
          type: "content_block_start",
          index,
          content_block: { type: "thinking", thinking, signature: "" },
        });
      piece({ type: "content_block_start", index: before.length, content_block: { type: "text", text: "" } });
    },
    grow: (text: string, index = 0): void =>
      piece({ type: "content_block_delta", index, delta: { type: "text_delta", text } }),
    whole: (...content: readonly object[]): void =>
      tell({ event: "message", id: "m", model: "x", content, usage }),
    over: (outcome: string): void =>
      tell({
        event: "idle",
        seq: 1,
        outcome,
        result: "",
        exit_code: 0,
        tokens_used: 1,
        elapsed_ms: 1,
        queued: 0,
      }),
    resize: (size: { columns: number; rows: number }): void => {
      terminal.resize(size.columns, size.rows);
      app.size = size;
      app.look = { ...base, width: size.columns - 1 };
      painter.resized();
    },
    /** All that can be scrolled to. */
    text: async (): Promise<string[]> => {
      await taken;
      const { active } = terminal.buffer;
      return Array.from({ length: active.length }, (_, at) =>
        (active.getLine(at)?.translateToString(true) ?? "").trimEnd(),
      );
    },
    /** What went above for good. */
    above: async (): Promise<string> => {
      await taken;
      const { active } = terminal.buffer;
      return Array.from({ length: active.baseY }, (_, at) =>
        active.getLine(at)?.translateToString(true),
      ).join("\n");
    },
    end: async (): Promise<string[]> => {
      painter.end();
      await taken;
      const { active } = terminal.buffer;
      const lines = Array.from({ length: active.length }, (_, at) =>
        (active.getLine(at)?.translateToString(true) ?? "").trimEnd(),
      );
      terminal.dispose();
      return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
    },
    look: () => app.look,
  };
}

const said = (text: string) => ({ kind: "text", text, isFinal: true }) as const;
const trimmed = (lines: readonly string[]): string[] => {
  const rows = lines.map((line) => line.trimEnd());
  return rows.slice(0, rows.findLastIndex((line) => line !== "") + 1);
};
const BLOCKS = [
  ...[
    "one paragraph of some words that go on and on",
    "# title",
    "- item\n- item\n- item",
    "- item\n  - deep\n\n  more",
  ],
  ...[
    "1. first\n1. next\n1. next\n1. next\n1. next",
    "```ts\nconst a = 1;\n\nb();\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
  ],
  ...[
    "> said\n> more",
    "see [it][x]",
    "[x]: https://a.example",
    "***",
    "text\n- item\n- item\n# title\nmore text",
  ],
];
const blocks = fc.array(fc.constantFrom(...BLOCKS), { minLength: 1, maxLength: 25 });
const sizes = fc.record({ columns: fc.integer({ min: 30, max: 70 }), rows: fc.integer({ min: 9, max: 20 }) });
const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 });

function piecesOf(text: string, many: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, n = 0; at < text.length; n++) {
    const length = many[n % many.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

test("an answer that comes in pieces stands in the terminal as one that comes at once, each block of it once", async () => {
  await fc.assert(
    fc.asyncProperty(
      blocks,
      lengths,
      sizes,
      fc.boolean(),
      async (all, many, { columns, rows }, isThought) => {
        const text = all.join("\n\n");
        const now = aConversation(columns, rows);
        const thought = isThought ? ["so it is"] : [];
        now.begin(...thought);
        for (const each of piecesOf(text, many)) {
          now.grow(each, thought.length);
          now.painter.now();
        }
        const lines = [
          ...thought.flatMap((words) =>
            entryLines({ kind: "thinking", text: words, isFinal: true }, now.look()),
          ),
          ...entryLines(said(text), now.look()),
        ].map(textOf);
        now.whole(...thought.map((thinking) => ({ type: "thinking", thinking })), { type: "text", text });
        now.painter.now();
        expect(await now.end()).toEqual(trimmed(lines));
      },
    ),
    { numRuns: Number(process.env.CRUX_RUNS ?? 40) },
  );
});

test("an answer loses and doubles no word where the terminal is resized, the run is interrupted or a notice comes in between", async () => {
  const act = fc.oneof(
    // a terminal that gets smaller has folded rows in its scrollback before it is known
    fc.record({ columns: fc.nat(5), rows: fc.nat(3) }).map((more) => ({ do: "resize" as const, more })),
    fc.constant({ do: "notice" as const }),
    fc.constant({ do: "draw" as const }),
    fc.constant({ do: "draw" as const }),
    fc.constant({ do: "dialog" as const }),
  );
  await fc.assert(
    fc.asyncProperty(
      blocks,
      lengths,
      fc.array(act, { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      async (all, many, acts, isCut) => {
        let words = 0;
        const text = all.join("\n\n").replace(/\b[a-z]{3,}\b(?!;)/g, () => `w${words++}w`);
        const now = aConversation(60, 12);
        now.begin();
        let notices = 0;
        for (const [n, each] of piecesOf(text, many).entries()) {
          now.grow(each);
          const next = acts[n % acts.length];
          if (next?.do === "resize") {
            await now.text();
            const { columns, rows } = now.app.size;
            now.resize({ columns: columns + next.more.columns, rows: rows + next.more.rows });
          }
          if (next?.do === "notice") now.app.model = notice(now.app.model, `n${notices++}n`);
          now.app.box.isOpen = next?.do === "dialog";
          now.painter.now();
        }
        if (isCut) {
          now.tell({ event: "tombstone", reply_id: "m" });
          now.painter.now();
          now.over("interrupted");
        } else now.whole({ type: "text", text });
        now.painter.now();
        const whole = (await now.end()).join("\n");
        const count = (one: string): number[] =>
          [...whole.matchAll(new RegExp(one, "g"))].map(([found]) => Number(found.slice(1, -1)));
        expect(count("w\\d+w").toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: words }, (_, at) => at),
        );
        expect(count("n\\d+n")).toEqual(Array.from({ length: notices }, (_, at) => at));
        expect(whole.split("interrupted;").length - 1).toBe(isCut ? 1 : 0);
      },
    ),
    { numRuns: Number(process.env.CRUX_RUNS ?? 40) },
  );
});

const LONG = Array.from({ length: 30 }, (_, at) => `part ${at} of it`).join("\n\n");

test("the begin of a long answer can be scrolled to while the rest comes, and an open dialog moves nothing there", async () => {
  const now = aConversation(40, 12);
  now.begin();
  now.app.box.isOpen = true;
  now.grow(LONG);
  now.painter.now();
  expect(await now.above()).toBe("");
  now.app.box.isOpen = false;
  now.painter.now();
  const above = await now.above();
  expect(above).toContain("● part 0 of it\n");
  expect((await now.text()).join("\n").split("part 29 of it").length - 1).toBe(1);
  // what is there for good is what the transcript shows whole
  expect(now.app.model.entries).toMatchObject([{ kind: "text", text: LONG }]);
});

test("an attempt that breaks after its begin is above is told apart from the one that begins anew", async () => {
  const now = aConversation(40, 12);
  now.begin();
  now.grow(LONG);
  now.painter.now();
  now.tell({ event: "tombstone", reply_id: "m" });
  now.painter.now();
  now.begin();
  now.grow("It is short.");
  now.painter.now();
  now.whole({ type: "text", text: "It is short." });
  now.over("completed");
  const whole = (await now.end()).join(" ").replaceAll(/ +/g, " ");
  expect(whole).toMatch(
    /^ ● part 0 .* part 27 of it · this answer broke off and begins anew.* ● It is short\.$/,
  );
});

test("an attempt that breaks while all of it can still be taken off leaves nothing, and one whose whole differs is told apart", async () => {
  const now = aConversation(40, 12);
  now.begin();
  now.grow("short\n\nand");
  now.painter.now();
  now.tell({ event: "tombstone", reply_id: "m" });
  now.painter.now();
  now.begin();
  now.grow(LONG);
  now.painter.now();
  now.whole({ type: "text", text: "Something else." });
  const whole = (await now.end()).join(" ").replaceAll(/ +/g, " ");
  expect(whole).toMatch(
    /^ ● part 0 .* part 27 of it · this answer broke off and begins anew.* ● Something else\.$/,
  );
});

test("an answer that is void stays once where no other comes, and one that the daemon did not end is told apart", async () => {
  for (const end of ["failed", "gone", "lost"]) {
    const now = aConversation(40, 12);
    now.begin();
    now.grow(LONG);
    now.painter.now();
    now.tell({ event: "tombstone", reply_id: "m" });
    now.painter.now();
    if (end === "failed") now.over("failed");
    if (end === "gone") now.tell({ event: "error", error_message: "it is gone" });
    if (end === "lost") now.app.model = lostModel(now.app.model, en);
    const whole = (await now.end()).join(" ").replaceAll(/ +/g, " ");
    for (const part of ["part 0 of it", "part 27 of it"]) expect(whole.split(part).length).toBe(2);
    expect(whole.split("part 29 of it").length).toBe(end === "lost" ? 1 : 2);
    expect(whole.includes("begins anew")).toBe(end === "lost");
  }
});
