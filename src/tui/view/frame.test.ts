import { expect, test } from "vitest";
import { noticeText } from "../../abi/child.ts";
import { widthOf } from "../../cli/screen/text/width.ts";
import { en } from "../../cli/screen/words/en.ts";
import { insert } from "../editor/buffer.ts";
import { NEW } from "../editor/edit.ts";
import { EMPTY, type Model, type TranscriptEntry } from "../state/model.ts";
import { asideAsked, asideChanged, reduce } from "../state/reduce.ts";
import { textOf } from "../text/line.ts";
import { themeOf } from "../text/theme.ts";
import { editorRows } from "./editor-rows.ts";
import { entryLines } from "./entry-lines.ts";
import { liveFrame, type Scene } from "./frame.ts";

const look = { theme: themeOf("dark", 256), width: 39, words: en, isUnfolded: false };

function aScene(model: Partial<Model>, more: Partial<Scene> = {}): Scene {
  return {
    model: { ...EMPTY, link: "connected", ...model },
    committed: 0,
    editing: NEW,
    dialog: undefined,
    offers: [],
    below: [],
    hint: "",
    look,
    size: { columns: 40, rows: 12 },
    nowMono: 5_000,
    reducesMotion: true,
    ...more,
  };
}

test("liveFrame() has what is in progress, what waits, the editor and the mode line", () => {
  const activity = { sinceMono: 2_000, chars: 400, tokens: 0, waits: "" };
  const { lines, cursor } = liveFrame(
    aScene({
      activity,
      queued: [{ seq: 2, text: "and\nthen", isMine: true }],
      model: "big",
      context: 0.42,
      costUsd: 0.0123,
      mode: "plan",
    }),
  );
  expect(lines.map(textOf)).toEqual([
    ...["", "• thinks (3s · esc to interrupt)", "⋯ and\\nthen", "─".repeat(39), "› "],
    "  ◇ plan · big · 42% context · $0.012",
  ]);
  expect(cursor).toEqual({ row: 4, column: 2 });
});

test("the mode line keeps how full the context is and what it cost where the name of the model is cut or left out", () => {
  const model = { model: "claude-sonnet-5-5", context: 0.12, costUsd: 0.324 };
  const lineAt = (columns: number) =>
    textOf(liveFrame(aScene(model, { size: { columns, rows: 12 } })).lines.at(-1) ?? []);
  expect(lineAt(60)).toBe("  ○ default · claude-sonnet-5-5 · 12% context · $0.324");
  expect(lineAt(40)).toBe("  ○ default · sonnet-5-5 · 12% · $0.324");
  expect(lineAt(32)).toBe("  ○ default · sonnet-5-5 · 12%");
});

test("liveFrame() says that it asks you, where an open question has no call on the screen", () => {
  const dialog = { lines: [[{ text: "allow it?", style: "" }]], back: 0, isSettled: true };
  const activity = { sinceMono: 2_000, chars: 0, tokens: 0, waits: "" };
  const shown = liveFrame(aScene({ activity }, { dialog })).lines.map(textOf).join("\n");
  expect(shown).toContain("asks you (3s");
  const late = liveFrame(aScene({ activity: { ...activity, sinceMono: -70_000 } }, { dialog }));
  // as the rows of agents below it
  expect(late.lines.map(textOf).join("\n")).toContain("asks you (1m 15s");
});

test("liveFrame() says what runs: calls without an outcome, by the tool that is called, and before them that it asks you", () => {
  const activity = { sinceMono: 2_000, chars: 0, tokens: 0, waits: "" };
  const call = { kind: "call", id: "1", tool: "bash", input: {}, isFinal: false } as const;
  const over = { ...call, note: { tool: "bash", about: "ls" } };
  const inner = { ...call, tool: "tool_call", input: { tool: "sleep", params: {} } };
  const dialog = { lines: [[{ text: "allow it?", style: "" }]], back: 0, isSettled: true };
  const shown = (entries: readonly TranscriptEntry[], more: object = {}) =>
    liveFrame(aScene({ activity, entries }, more)).lines.map(textOf).join("\n");
  expect(shown([over, inner])).toContain("runs sleep (3s");
  expect(shown([call, inner])).toContain("runs 2 calls (3s");
  expect(shown([call], { dialog })).toContain("asks you (3s");
});

test("a question beside the run stands above the editor, however long the answer of the run, until that is over", () => {
  const activity = { sinceMono: 2_000, chars: 0, tokens: 0, waits: "" };
  const long = Array.from({ length: 50 }, (_, n) => `line ${n}`).join("\n\n");
  const running: Model = {
    ...EMPTY,
    activity,
    entries: [{ kind: "text", text: long, isFinal: false }],
    replyFrom: 0,
  };
  const shown = (model: Model) => liveFrame(aScene(model)).lines.map(textOf).join("\n");
  const asked = asideAsked(running, "which file?");
  expect(shown(asked)).toMatch(/line 49\n\n\? which file\?\n {2}beside the conversation · esc ends it\n/);
  const answered = asideChanged(asked, { text: "It was\n\na.ts.", isFinal: true });
  expect(shown(answered)).toMatch(/line 49\n\n\? which file\?\n {2}It was\n {2}\n {2}a\.ts\.\n/);
  expect(answered.entries).toHaveLength(1);
  const idle = {
    event: "idle",
    pid: 1,
    seq: 1,
    outcome: "completed",
    exit_code: 0,
    elapsed_ms: 1,
    queued: 0,
  } as const;
  const at = { words: en, client: "me", mono: 9_000 };
  const over = reduce(answered, { ...idle, result: long, tokens_used: 1 }, at);
  expect([over.aside, over.entries.at(-1)]).toEqual([undefined, answered.aside]);
});

test("why a run waits is shown whole, in a row more where it has to be", () => {
  const waits = "model: rate limited (429), retry 1/10 in 4s";
  const activity = { sinceMono: 2_000, chars: 400, tokens: 0, waits };
  const shown = liveFrame(aScene({ activity })).lines.map((line) => textOf(line).trimEnd());
  expect(shown.slice(1, 3)).toEqual([
    "• model: rate limited (429), retry 1/10",
    "  in 4s (3s · esc to interrupt)",
  ]);
});

test.each([
  [312_400, 500_000, "312k / 500k"],
  [999_999, 2_000_000, "999k / 2m"],
  [1_560_000, 2_500_000, "1.5m / 2.5m"],
])("liveFrame() shows how much of its target a run has written: %i of %i", (spent, aim, words) => {
  const { lines } = liveFrame(aScene({ target: { aim, spent } }, { hint: "" }));
  expect(textOf(lines.at(-1) ?? [])).toContain(` · ${words}`);
});

test("the line below the editor has the mode of vi, where its keys are on", () => {
  const last = (vim?: "insert" | "normal") => textOf(liveFrame(aScene({}, { vim })).lines.at(-1) ?? []);
  expect([last("normal"), last("insert")].map((line) => line.split(" · ")[1])).toEqual(["NORMAL", "INSERT"]);
  expect(last()).not.toMatch(/NORMAL|INSERT/);
});

test("what is selected in the editor is marked, over folds and wide characters", () => {
  const editing = { ...NEW, buffer: insert(NEW.buffer, "ab日本 cd\nef") };
  const { lines } = liveFrame(
    aScene({}, { editing, selected: { from: 3, to: 9 }, size: { columns: 10, rows: 12 } }),
  );
  const marked = lines.flatMap((line) => line.filter(({ style }) => style === look.theme.selection));
  expect(marked.map(({ text }) => text)).toEqual(["本 ", "cd", "e"]);
});

test.each([40, 80, 200])("liveFrame() fits into %i columns and its rows, whatever is in it", (columns) => {
  const text = "日本語のテキスト 👍🏽 and words ".repeat(200);
  const scene = aScene(
    { entries: [{ kind: "text", text, isFinal: false }], queued: [{ seq: 1, text, isMine: true }] },
    {
      size: { columns, rows: 12 },
      look: { ...look, width: columns - 1 },
      editing: { ...NEW, buffer: insert(NEW.buffer, text) },
    },
  );
  const { lines } = liveFrame(scene);
  expect(lines.length).toBeLessThanOrEqual(11);
  for (const line of lines) expect(widthOf(textOf(line))).toBeLessThanOrEqual(columns);
});

test("a dialog is never taller than the screen, and scrolls inside", () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => [{ text: `row ${n}`, style: "" }]);
  const shown = (back: number) =>
    liveFrame(aScene({}, { dialog: { lines: rows, back, isSettled: true } })).lines.map(textOf);
  expect(shown(0)).toHaveLength(10);
  expect(shown(0).at(-2)).toBe("row 4999");
  expect(shown(5)).toContain("row 4994");
  expect(shown(5)).not.toContain("row 4999");
  expect([shown(5).length, shown(5).at(-2)]).toEqual([10, "── 5 rows below · PgDn End ─"]);
  expect(shown(1)).toContain("── 1 row below · PgDn End ─");
  // all of it, from its beginning on
  const top = liveFrame(aScene({}, { dialog: { lines: rows, back: 200_000, isSettled: true } }));
  expect(top.lines.map(textOf).slice(0, 2)).toEqual(["─".repeat(39), "row 0"]);
  expect(top.scrolled).toEqual({ above: 0, back: 4_993 });
});

test("the row above a dialog says how many more questions wait, on a small screen too", () => {
  const size = { columns: 40, rows: 20 };
  const rows = Array.from({ length: 40 }, (_, n) => [{ text: `row ${n}`, style: "" }]);
  const first = (lines: typeof rows, waiting: number) =>
    textOf(
      liveFrame(aScene({}, { size, dialog: { lines, back: 0, waiting, isSettled: true } })).lines[0] ?? [],
    );
  expect(first(rows.slice(0, 2), 0)).toBe("─".repeat(39));
  expect(first(rows.slice(0, 2), 1)).toBe("── 1 more question ─");
  expect(first(rows, 2)).toBe("── 24 rows above · PgUp Home · 2 more q…");
});

test("entryLines() is one line for a call, and unfolds to its arguments, diff and output", () => {
  const call = {
    kind: "call",
    id: "t",
    tool: "edit",
    input: { path: "a.ts", old_string: "one\ntwo", new_string: "one\n2" },
    note: { tool: "edit", about: "a.ts", facts: { added: 1, removed: 1 } },
    result: "edited a.ts",
    isFinal: true,
  } as const;
  expect(entryLines(call, look).map(textOf)).toEqual(["● edit a.ts +1 −1"]);
  expect(entryLines(call, { ...look, isUnfolded: true }).map(textOf)).toEqual([
    ...["● edit a.ts +1 −1", "  │ path: a.ts", "  │  one", "  │ -two", "  │ +2", "  │ edited a.ts"],
  ]);
});

test("entryLines() unfolds a call with many edits to their diffs", () => {
  const edits = [
    { old_string: "one", new_string: "1" },
    { old_string: "two", new_string: "2", replace_all: true },
  ];
  const shown = (input: object) => {
    const call = { kind: "call", id: "t", tool: "multi_edit", input, isFinal: true } as const;
    return entryLines(call, { ...look, isUnfolded: true })
      .map(textOf)
      .slice(1);
  };
  expect(shown({ file_path: "a.ts", edits })).toEqual([
    ...["  │ file_path: a.ts", "  │ -one", "  │ +1", "  │ -two", "  │ +2"],
  ]);
  // what is not an edit is shown as it came
  expect(shown({ edits: [{ old_string: "one" }] })).toEqual(['  │ edits: [{"old_string":"one"}]']);
});

test("entryLines() is one line for the end of an agent in the background, and unfolds to its result", () => {
  const exit = { code: 0, reason: "completed", kind: "done" } as const;
  const ended = { agentId: "agent-0", exit, result: "<b>\ntwo", tokensUsed: 12, elapsedMs: 7_340 };
  const text = noticeText({ call: "t1", title: "dig & fill" }, ended);
  const shown = (wide: object) =>
    entryLines({ kind: "user", text, from: "process 3" }, { ...look, width: 99, ...wide }).map(textOf);
  const line = '✓ process 3: Agent "dig & fill" completed · 7.3s · 12 tokens';
  const queued = [{ seq: 2, text, isMine: false }];
  expect(liveFrame(aScene({ queued }, { size: { columns: 99, rows: 12 } })).lines.map(textOf)).toContain(
    '⋯ Agent "dig & fill" completed · 7.3s · 12 tokens',
  );
  expect(shown({})).toEqual(["", line]);
  expect(shown({ isUnfolded: true })).toEqual(["", line, "  <b>", "  two"]);
});

test("entryLines() does not show the end of a job as what the user said", () => {
  const told = (text: string) =>
    textOf(entryLines({ kind: "user", text, from: "process 1" }, look).at(-1) ?? []);
  expect(told("job-1 ended: exit 0")).toBe("· process 1: job-1 ended: exit 0");
  expect(told("job-1 is slow")).toBe("› process 1: job-1 is slow");
});

test("entryLines() folds a long message of the user, which the transcript has whole", () => {
  const text = Array.from({ length: 2_000 }, (_, n) => `line ${n}`).join("\n");
  const texts = (isUnfolded: boolean) =>
    entryLines({ kind: "user", text, from: "" }, { ...look, width: 99, isUnfolded }).map(textOf);
  expect(texts(false)).toHaveLength(17);
  expect([texts(false).slice(10, 12), texts(false).at(-1)]).toEqual([
    ["  line 9", "  … 1985 lines more; ctrl+o shows them …"],
    "  line 1999",
  ]);
  expect(texts(true)).toHaveLength(2_001);
});

test("entryLines() shows how a call of the past ended, and marks one of which that is not known", () => {
  const call = { kind: "call", id: "t", tool: "bash", input: { command: "ls" }, isFinal: true } as const;
  const texts = (more: object, isUnfolded = false) =>
    entryLines({ ...call, ...more }, { ...look, isUnfolded }).map(textOf);
  expect(texts({ result: "a.md" })).toEqual(["● bash ls"]);
  expect(texts({ result: "a.md" }, true)).toEqual(["● bash ls", "  │ command: ls", "  │ a.md"]);
  const failed = { result: "Error [NOT_FOUND]: gone\nmore", isError: true };
  expect(texts(failed)).toEqual(["✗ bash ls → gone"]);
  const begun = {
    result: "I look.\nError [DRIVER]: a (3): gone\nAbove is more",
    isError: true,
  };
  expect(texts(begun)).toEqual(["✗ bash ls → a (3): gone"]);
  expect(texts({ result: "no such file\nExit code 1", isError: true })).toEqual(["✗ bash ls → no such file"]);
  const refused = { result: "Error [PERMISSION]: Permission denied by user: not there", isError: true };
  expect(texts(refused)).toEqual(["✗ bash ls → refused: not there"]);
  expect(texts({})).toEqual(["○ bash ls"]);
});

test("entryLines() lets nothing of a model, a tool or a file name steer the terminal", () => {
  const evil = "x\x1b]0;t\x07\x1b[2J\u202ey";
  const entries = [
    { kind: "user", text: evil, from: evil },
    { kind: "thinking", text: evil, isFinal: true },
    { kind: "call", id: "", tool: evil, input: { path: evil }, result: evil, isFinal: true },
    { kind: "notice", text: evil, level: "info" },
    { kind: "output", title: "t", text: evil },
  ] as const;
  for (const entry of entries)
    for (const line of entryLines(entry, { ...look, isUnfolded: true }))
      expect(textOf(line)).not.toMatch(/[\p{Cc}\u202e]/u);
});

test("editorRows() has the cursor where the text says, also at a fold and after wide characters", () => {
  const options = { width: 6, most: 10 };
  expect(editorRows("日本語x", 2, options)).toEqual({ rows: ["日本語", "x"], row: 0, column: 4 });
  expect(editorRows("abcdef", 6, options)).toEqual({ rows: ["abcdef", ""], row: 1, column: 0 });
  expect(editorRows("a\nb", 3, options)).toEqual({ rows: ["a", "b"], row: 1, column: 1 });
  expect(editorRows("1\n2\n3\n4\n5", 4, { width: 6, most: 2 })).toMatchObject({ rows: ["2", "3"], row: 1 });
});

test.each([
  ["Permission denied by user", "✗ write b.txt → refused"],
  ["Permission denied by user: not there", "✗ write b.txt → refused: not there"],
  ["Permission denied: rule write", "✗ write b.txt → refused: rule write"],
])("entryLines() of a call that was refused says why, unless it was the user: %s", (error, line) => {
  const note = { tool: "write", about: "b.txt", error, refused: true } as const;
  const lines = entryLines({ kind: "call", id: "", tool: "write", input: {}, note, isFinal: true }, look);
  expect(lines.map(textOf)).toEqual([line]);
});

test("a call that has ended is marked so while others of its reply run", () => {
  const call = {
    kind: "call",
    id: "",
    tool: "agent",
    input: { description: "Look" },
    isFinal: false,
  } as const;
  const drawn = (more: object) => textOf(entryLines({ ...call, ...more }, look)[0] ?? []);
  expect(drawn({})).toBe("○ agent Look");
  expect(drawn({ note: { tool: "agent", about: "Look" } })).toBe("● agent Look");
  const on = { tool: "agent", about: "Look", facts: { job: "pid 4" } };
  expect(drawn({ note: on, isFinal: true })).toBe("○ agent Look → runs on as pid 4");
});

test("entryLines() says in rows of its own what went wrong with a call, where its line would be cut", () => {
  const why = "Command 'curl' is not allowed for this agent, whose rules name git and npm alone";
  const note = { tool: "bash", about: "curl http://example.invalid", error: `Permission denied: ${why}` };
  const call = { kind: "call", id: "", tool: "bash", input: {}, isFinal: true } as const;
  const lines = entryLines({ ...call, note: { ...note, refused: true } }, look).map(textOf);
  expect(lines[0]).toBe("✗ bash curl http://example.invalid");
  expect(lines.slice(1).join(" ").replace(/ +/g, " ")).toBe(` refused: ${why}`);
});

test("the cursor of a dialog stands after wide characters too", () => {
  const dialog = { lines: [[{ text: "原因：不", style: "" }]], back: 0, isSettled: true };
  expect(liveFrame(aScene({}, { dialog })).cursor?.column).toBe(8);
});

test("a text under way stands below the open dialog and has the cursor until the dialog takes keys", () => {
  const rows = [[{ text: "allow it? ", style: "" }]];
  const editing = { ...NEW, buffer: insert(NEW.buffer, "half a") };
  const shown = (isSettled: boolean) =>
    liveFrame(
      aScene({}, { size: { columns: 60, rows: 12 }, editing, dialog: { lines: rows, back: 0, isSettled } }),
    );
  const before = shown(false);
  expect(before.lines.map(textOf)).toEqual([
    ...["─".repeat(59), "allow it? ", "─".repeat(59), "› half a"],
    "  ○ default · keys go to the editor until you pause",
  ]);
  expect(before.cursor).toEqual({ row: 3, column: 8 });
  expect(shown(true).cursor).toEqual({ row: 1, column: 10 });
});

test("on a small screen an open dialog gets the rows of the panel and of the queue", () => {
  const queued = [1, 2, 3].map((seq) => ({ seq, text: `m${seq}`, isMine: true }));
  const rows = Array.from({ length: 9 }, (_, n) => [{ text: `row ${n}`, style: "" }]);
  const shown = (height: number) =>
    liveFrame(
      aScene(
        { queued },
        {
          size: { columns: 40, rows: height },
          below: [[{ text: "panel", style: "" }]],
          dialog: { lines: rows, back: 0, isSettled: true },
        },
      ),
    ).lines.map(textOf);
  expect(shown(20)).toEqual(expect.arrayContaining(["row 0", "⋯ 2 more wait", "⋯ m3"]));
  expect(shown(20)).not.toContain("panel");
  expect(shown(30)).toEqual(expect.arrayContaining(["row 0", "⋯ m1", "⋯ m3", "panel"]));
});

test("at 40 columns what is said for a moment stands in the last line, and the facts give way to it", () => {
  const model = { model: "a-model-with-a-name", context: 0.4, costUsd: 1 };
  const last = (more: Partial<Scene>) =>
    textOf(liveFrame(aScene(model, { size: { columns: 40, rows: 12 }, ...more })).lines.at(-1) ?? []);
  const dialog = { lines: [[{ text: "allow it? ", style: "" }]], back: 0, isSettled: false };
  expect(last({ dialog })).toBe("  keys go to the editor until you pause");
  expect(last({ hint: "esc again: go back" })).toBe("  ○ default · 40% · esc again: go back");
  expect(last({})).toBe("  ○ default · a-model-with-a-name · 40%");
});

test("a thought is a line: while it grows its end, then its begin, cut between words", () => {
  const line = (text: string, isFinal: boolean) =>
    entryLines({ kind: "thinking", text, isFinal }, look).map((each) => textOf(each));
  const text =
    "First I read the parser and the tests of it.\nThen I look for what calls the parser, and where.";
  expect(line(text, false)).toEqual(["∴ … what calls the parser, and where."]);
  expect(line(text, true)).toEqual(["∴ First I read the parser and the test…"]);
  expect(line("Short.", false)).toEqual(["∴ Short."]);
  const [wide = ""] = line("想".repeat(60), false);
  expect([wide.startsWith("∴ …想"), widthOf(wide) <= 39]).toEqual([true, true]);
});

test("the line of a question has its words, whose arguments are a list", () => {
  const questions = [{ options: [{ label: "Red" }], question: "Which colour?", header: "Colour" }];
  const call = { kind: "call", id: "", tool: "ask_user", input: { questions }, isFinal: true } as const;
  expect(entryLines(call, look).map(textOf).join("")).toContain("ask_user Which colour?");
});

test("while a dialog is open before the session is there, the mode line does not say that it connects", () => {
  const rows = [[{ text: "Trust it? ", style: "" }]];
  const said = (dialog: Scene["dialog"]) =>
    liveFrame(aScene({ link: "connecting" }, { dialog }))
      .lines.map(textOf)
      .join("\n");
  expect(said(undefined)).toContain(en.modeLine.connecting);
  expect(said({ lines: rows, back: 0, isSettled: true })).not.toContain(en.modeLine.connecting);
});

test("a running call has the last rows that it printed, and how long it runs; a small screen has one of them", () => {
  const text = `${[1, 2, 3, 4, 5, 6].map((n) => `line ${n}`).join("\n")}\n10%\r\u001b[32m20%\u001b[0m ${"x".repeat(99)}\n\n`;
  const call = { kind: "call", id: "1", tool: "bash", input: { command: "make" }, isFinal: false } as const;
  const running: TranscriptEntry = { ...call, printed: { text, beganMono: 1_500 } };
  const rowsAt = (entry: TranscriptEntry, columns: number, rows: number) => {
    const scene = aScene(
      { entries: [entry] },
      { size: { columns, rows }, look: { ...look, width: columns - 1 } },
    );
    return liveFrame(scene).lines.slice(0, -3).map(textOf);
  };
  const last = `  │ 20% ${"x".repeat(70)}…`;
  expect(rowsAt(running, 80, 24)).toEqual([
    "○ bash make · 3s",
    ...[3, 4, 5, 6].map((n) => `  │ line ${n}`),
    last,
  ]);
  expect(rowsAt(running, 40, 20)).toEqual(["○ bash make · 3s", `${last.slice(0, 38)}…`]);
  expect(rowsAt({ ...running, isFinal: true, printed: undefined }, 80, 24)).toEqual(["○ bash make"]);
  const unfolded = entryLines(running, { ...look, isUnfolded: true }).map(textOf);
  expect(unfolded).toContain("  │ line 1");
});
