import { expect, test } from "vitest";
import { noticeText } from "../../abi/child.ts";
import type { Result } from "../../abi/methods/methods.ts";
import type { WireSession } from "../../abi/methods/session.ts";
import { en } from "../../cli/screen/words/en.ts";
import type { Press } from "../editor/keys.ts";
import { textOf } from "../text/line.ts";
import { themeOf } from "../text/theme.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import { Picker, type PickerWish } from "./picker.ts";
import { type Extent, rewindWish } from "./rewind-picker.ts";
import { sessionWish } from "./session-picker.ts";

const LOOK = { theme: themeOf("dark", "none"), width: 79, words: en, isUnfolded: false } as EntryLook;
const SIZE = { columns: 80, rows: 24 };
const key = (name: string): Press => ({ kind: "key", name });
const shown = (picker: Picker<never>) =>
  picker
    .lines(SIZE, LOOK)
    .map((line) => textOf(line).trimEnd())
    .filter((text) => text !== "");

const session = (pid: number, title: string, cwd: string): WireSession => ({
  ...{ pid, title, cwd, uuid: `u${pid}`, name: "", state: "resting", kept: false, turns: 2, tokens_used: 30 },
  ...{ created_at: "2026-01-01T00:00:00.000Z", last_at: "2026-01-01T00:00:00.000Z" },
});

/** Answers by method; each answer arrives in a later turn. */
function client(answers: Record<string, (params: never) => unknown>) {
  const asked: [string, unknown][] = [];
  const request = async (method: string, params: unknown) => {
    asked.push([method, params]);
    return answers[method]?.(params as never);
  };
  return { asked, request: request as never };
}

const NOTICE = noticeText({ call: "t", title: "dig" }, {
  ...{ agentId: "agent-0123456789ab", exit: { code: 0, reason: "", kind: "done" }, result: "done" },
  ...{ tokensUsed: 5, elapsedMs: 1_000 },
} as never);

function sessions() {
  const chosen: number[] = [];
  const changed = Promise.withResolvers<void>();
  const { request } = client({
    "cost.get": () => ({ by: "pid", cut: false, lines: [{ key: "1", usd: 0.25 }] }),
    "session.history": () => ({
      messages: ["do\nit\x1b[2J", NOTICE, '<shell_line command="ls -l" exit="0">\na.ts\n</shell_line>'].map(
        (text) => ({
          ...{ role: "user", text, calls: [], at: "", seq: 1 },
        }),
      ),
    }),
  });
  const wish = sessionWish({
    words: en,
    sessions: [session(1, "the parser", "/no/here"), session(2, "the printer", "/no/there")],
    cwd: "/no/here",
    now: Date.parse("2026-01-01T02:00:00.000Z"),
    client: { request },
    chosen: ({ pid }) => chosen.push(pid),
    changed: () => changed.resolve(),
  });
  return { picker: new Picker(wish) as Picker<never>, chosen, changed: changed.promise };
}

test("the sessions of this folder, by Tab those of all, with what is known of the marked one", async () => {
  const { picker, chosen, changed } = sessions();
  expect(shown(picker)).toContain("❯   2h  the parser  pid 1");
  expect(shown(picker).join("\n")).not.toContain("printer");
  await changed;
  const lines = shown(picker);
  expect(lines).toContain("  /no/here · 2 messages · 30 tokens · $0.25");
  expect(lines).toContain("  › do it\\x1b[2J");
  expect(lines).toContain("  ! ls -l");
  expect(lines.join("\n")).toMatch(/\n {2}Agent "dig" completed/);
  expect(lines.join("\n")).not.toContain("<task");
  expect(picker.press(key("tab"), SIZE)).toBe(true);
  expect(shown(picker).join("\n")).toContain("/no/there");
  picker.press({ kind: "text", text: "print" }, SIZE);
  expect(shown(picker)).toContain(`❯   2h  ${"the printer".padEnd(44)}  /no/there  pid 2`);
  expect(picker.press(key("enter"), SIZE)).toBe(false);
  expect(chosen).toEqual([2]);
});

test("Esc chooses nothing, and so does Enter where nothing fits", () => {
  const { picker, chosen } = sessions();
  picker.press({ kind: "text", text: "xyz" }, SIZE);
  expect(shown(picker)).toContain("  no session has all of these words");
  expect(picker.press(key("enter"), SIZE)).toBe(true);
  expect(picker.press(key("escape"), SIZE)).toBe(false);
  expect(chosen).toEqual([]);
});

test("a step shows what would change; what goes back is asked, and nothing is done before", async () => {
  type Step = Result<"process.steps">["steps"][number];
  const step = (n: number, files: string[]): Step => ({
    ...{ step: n, at: "2026-01-01T00:00:00.000Z", words: `words ${n}`, files, file_count: files.length },
    ...{ commands: n, uuid: "u", seq: n, asked: [] },
  });
  const plan = {
    ...{
      pid: 3,
      step: 1,
      seq: 1,
      refused: true,
      conflicts: ["/w/a"],
      commands: ["ls"],
      command_count: 1,
      fork: null,
    },
    files: [{ path: "/w/a", deed: "restored", reason: "", insertions: 2, deletions: 1 }],
  };
  const { asked, request } = client({ "process.rewind": () => plan });
  const opened: PickerWish<Extent>[] = [];
  const decided: unknown[] = [];
  let changed = Promise.withResolvers<void>();
  const wish = {
    ...{ pid: 3, cwd: "/w", now: Date.parse("2026-01-01T00:01:00.000Z"), client: { request } },
    words: en,
    open: (next: PickerWish<Extent>) => opened.push(next),
    decided: (at: unknown) => decided.push(at),
    changed: () => changed.resolve(),
  };
  const picker = new Picker(rewindWish([step(0, []), step(1, ["/w/a"])], wish)) as Picker<never>;
  expect(shown(picker)).toContain("❯    1    1m  words 1  (1 file, 1 command)");
  expect(shown(picker)).toContain("     0    1m  (before the first reply)");
  await changed.promise;
  const text = shown(picker)
    .join("\n")
    .replace(/\n {2}(?=\S)/g, " ");
  expect(text).toContain("restored   a +2 -1");
  expect(text).toContain("[rewind] 1 command ran since");
  expect(text).toContain("crux rewind --force");
  picker.press(key("enter"), SIZE);
  const extents = new Picker(opened[0] as PickerWish<Extent>) as Picker<never>;
  expect(shown(extents)[0]).toBe("  What goes back to step 1?");
  changed = Promise.withResolvers<void>();
  extents.press(key("down"), SIZE);
  expect(asked.every(([, params]) => (params as { dry_run?: boolean }).dry_run === true)).toBe(true);
  extents.press(key("enter"), SIZE);
  expect(decided).toEqual([{ pid: 3, at: { step: 1 }, files: true }]);
});

test("/rewind lists what the user asked; what is chosen is said anew, and Tab lists every step", async () => {
  type Step = Result<"process.steps">["steps"][number];
  const step = (n: number, words: string, asked: string[], commands = 0): Step => ({
    ...{ step: n, at: "2026-01-01T00:00:00.000Z", words, asked, files: n > 1 ? ["/w/a"] : [] },
    ...{ file_count: n > 1 ? 1 : 0, commands, uuid: "u", seq: n },
  });
  const note = "<crux-note>be brief</crux-note>";
  const steps = [
    step(0, "", []),
    step(1, "I build it.", ["build the parser", note]),
    step(2, "bash", [NOTICE, "now test\x1b[2J it"], 1),
    step(3, "It passes.", ['<shell_line command="ls" exit="0">\na.ts\n</shell_line>'], 1),
  ];
  const opened: PickerWish<Extent>[] = [];
  const decided: unknown[] = [];
  const wish = {
    ...{ pid: 3, cwd: "/w", now: Date.parse("2026-01-01T00:01:00.000Z"), words: en },
    client: client({ "process.rewind": () => ({ files: [], commands: [], conflicts: [] }) }),
    open: (next: PickerWish<Extent>) => opened.push(next),
    decided: (...at: unknown[]) => decided.push(at),
    changed: () => {},
  };
  const picker = new Picker(rewindWish(steps, wish)) as Picker<never>;
  expect(shown(picker).filter((line) => line.includes("1m"))).toEqual([
    "❯   1m  now test\\x1b[2J it  (1 file, 2 commands)",
    "    1m  build the parser  (before the first reply)",
  ]);
  picker.press(key("tab"), SIZE);
  expect(shown(picker)).toContain("❯    3    1m  It passes.  (1 file, 1 command)");
  picker.press(key("tab"), SIZE);
  picker.press({ kind: "text", text: "test" }, SIZE);
  picker.press(key("enter"), SIZE);
  const extents = new Picker(opened[0] as PickerWish<Extent>) as Picker<never>;
  expect(shown(extents)[0]).toBe("  What goes back to before “now test\\x1b[2J it”?");
  extents.press(key("enter"), SIZE);
  expect(decided).toEqual([[{ pid: 3, at: { step: 1 } }, "now test\x1b[2J it"]]);
});
