/** The dialog as a person meets it: what is shown, what each key does, and what does nothing. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { AskReply } from "../../abi/ask.ts";
import type { AskEvent } from "../../abi/wire-events.ts";
import { FakeInput, FakeOutput } from "../testing/run-command.ts";
import { AskDialog } from "./ask-dialog.ts";

const RULE = { rule: "bash(npm test:*)", destinations: ["session", "userSettings"] as const };
const EVENT: AskEvent = {
  event: "ask",
  pid: 2,
  ask_id: "q1",
  text: "bash: git log | sh",
  options: ["yes", "no", "always"],
  path: "main-1 › worker-2",
  tool: "bash",
  parts: [
    { text: "git log", behavior: "allow", why: "rule bash(git *) of user settings" },
    { text: "sh", behavior: "ask", why: "a shell that reads its commands" },
  ],
  reason: "sh reads its commands from a pipe",
  sandbox: "writes /w; network: off",
  warnings: ["it cannot be undone"],
  rules: [RULE],
  arguments: '{"command":"git log | sh"}',
};

function aDialog(results: boolean[] = [], isNumbered = false, columns?: number) {
  const [input, output] = [new FakeInput(), new FakeOutput(true)];
  const replies: AskReply[] = [];
  let interrupts = 0;
  const dialog = new AskDialog({
    input,
    isNumbered,
    columns,
    onInterrupt: () => void interrupts++,
    write: (text) => new Promise((done) => void output.write(text, done)),
    answer: async (_id, reply) => {
      replies.push(reply);
      return results.shift() ?? true;
    },
    edit: async (text, line) => {
      const typed = await line("  command: ", JSON.parse(text).command);
      return typed === undefined ? undefined : { command: typed };
    },
  });
  return { dialog, input, output, replies, interrupts: () => interrupts };
}

async function drawn(event: AskEvent = EVENT, results: boolean[] = []) {
  const made = aDialog(results);
  made.dialog.ask(event);
  await made.output.shows("? [y]es");
  return made;
}

const over = async ({ dialog }: { dialog: AskDialog }) => dialog[Symbol.asyncDispose]();

test("on a narrow terminal lines are broken at blanks, and nothing is left out", async () => {
  const made = aDialog([], false, 60);
  const long = "x".repeat(70);
  made.dialog.ask({ ...EVENT, text: `bash: ${long} and more`, detail: `+  a  ${"word ".repeat(14)}end` });
  await made.output.shows("[e]dit");
  const rows = made.output.text.split("\n");
  expect(rows.filter((row) => row.length > 60)).toEqual([expect.stringContaining(long)]);
  expect(rows.slice(0, 2)).toEqual([
    `  +  a  ${"word ".repeat(10)}`.trimEnd(),
    "    word word word word end",
  ]);
  expect(rows.slice(-3)).toEqual([
    `  ${long}`,
    "  and more? [y]es / [n]o / [a]lways / no, [t]ell why /",
    "  [e]dit ",
  ]);
  await over(made);
});

test("a plan may be carried out in another mode that is offered", async () => {
  const plan: AskEvent = { ...EVENT, options: ["yes", "no"], modes: ["accept_edits", "auto"] };
  const made = await drawn(plan);
  expect(made.output.text).toContain(
    "[y]es / [n]o / yes, a[c]cept edits / yes, a[u]to mode / no, [t]ell why",
  );
  made.input.type("d");
  made.input.type("c");
  await made.output.shows("accept_edits\n");
  await over(made);
  expect(made.replies).toEqual([{ answer: "yes", words: "accept_edits" }]);
});

test("what has no number stands behind what has one", async () => {
  const { output, dialog } = aDialog([], true);
  const detail = Array.from({ length: 50 }, (_, n) => `+ ${n}`).join("\n");
  const { arguments: _, ...fixed } = EVENT;
  dialog.ask({ ...fixed, options: ["yes", "no"], modes: ["auto"], detail });
  const keys = "1 [y]es · 3 [n]o (Enter) · 4 no, [t]ell why · yes, a[u]to mode · [v]iew all ";
  await output.shows(keys);
  expect(output.text.split("\n").at(-1)).toBe(`[agent/2] allow bash: git log | sh? ${keys}`);
  await dialog[Symbol.asyncDispose]();
});

describe("the dialog", () => {
  test("shows who asks, each command of a pipe with its own decision, why, the sandbox and the warnings", async () => {
    const made = await drawn();
    expect(made.output.text).toBe(
      [
        "  by main-1 › worker-2",
        "  1. git log  (allowed: rule bash(git *) of user settings)",
        "  2. sh  (asks: a shell that reads its commands)",
        "  why: sh reads its commands from a pipe",
        "  sandbox: writes /w; network: off",
        "  ! it cannot be undone",
        "[agent/2] allow bash: git log | sh? [y]es / [n]o / [a]lways / no, [t]ell why / [e]dit ",
      ].join("\n"),
    );
    await over(made);
    expect(made.replies).toEqual([]);
  });

  test("gives the five answers by number, too, where they have one, and says which one Enter gives", async () => {
    const { input, output, replies, dialog } = aDialog([], true);
    dialog.ask(EVENT);
    await output.shows("? 1 [y]es");
    const keys = "1 [y]es · 2 [a]lways · 3 [n]o (Enter) · 4 no, [t]ell why · 5 [e]dit ";
    expect(output.text.split("\n").at(-1)).toBe(`[agent/2] allow bash: git log | sh? ${keys}`);
    input.type("7");
    input.type("1");
    await output.shows("yes\n");
    await dialog[Symbol.asyncDispose]();
    expect(replies).toEqual([{ answer: "yes" }]);
  });

  test("says once why a command that is all of the call asks", async () => {
    const made = await drawn({
      ...EVENT,
      text: "bash: npm test",
      parts: [{ text: "npm test", behavior: "ask", why: "default mode" }],
      reason: "npm test: no rule allows it (default mode)",
      warnings: [],
    });
    expect(made.output.text).toBe(
      [
        "  by main-1 › worker-2",
        "  why: npm test: no rule allows it (default mode)",
        "  sandbox: writes /w; network: off",
        "[agent/2] allow bash: npm test? [y]es / [n]o / [a]lways / no, [t]ell why / [e]dit ",
      ].join("\n"),
    );
    await over(made);
  });

  test("escapes what turns the reading direction or looks like something else", async () => {
    const made = await drawn({ ...EVENT, text: "bash: есho \u202egnp.sh" });
    expect(made.output.text).toContain("bash: \\u{435}\\u{441}ho \\u202egnp.sh?");
    await over(made);
  });

  test("cuts a long text in the middle, and shows all of it on v", async () => {
    const detail = Array.from({ length: 100 }, (_, n) => `+ line ${n}`).join("\n");
    const made = await drawn({ ...EVENT, detail });
    expect(made.output.text).toContain("  + line 23\n  … 68 lines more …\n  + line 92\n");
    expect(made.output.text).not.toContain("+ line 50\n");
    made.output.clear();
    made.input.type("v");
    await made.output.shows("[t]ell why / [e]dit ");
    expect(made.output.text).toContain("+ line 50\n");
    expect(made.output.text).not.toContain("[v]iew");
    made.input.type("y");
    await expect.poll(() => made.replies).toEqual([{ answer: "yes" }]);
    await over(made);
  });

  test("counts the lines that an excerpt already lacks", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `+ line ${n}`);
    lines[30] = "… 1900 lines more …";
    const made = await drawn({ ...EVENT, detail: lines.join("\n") });
    expect(made.output.text).toContain("  + line 23\n  … 1927 lines more …\n  + line 52\n");
    await over(made);
  });

  test.each([
    ["y", { answer: "yes" }],
    ["n", { answer: "no" }],
    ["\r", { answer: "no" }],
    ["\x1b", { answer: "no" }],
  ])("%j answers at once", async (keys, reply) => {
    const made = await drawn();
    made.input.type(keys);
    await expect.poll(() => made.replies).toEqual([reply]);
    await over(made);
  });

  describe("of a limit that is reached", () => {
    const LIMIT: AskEvent = {
      event: "ask",
      pid: 2,
      ask_id: "q1",
      text: "raise the limit of process 1 by $2.00",
      detail: "budget exceeded of process 1: limit $2.00, used $1.90, reserved $0.00, asked $0.35",
      options: ["yes", "no"],
      path: "main-1 › worker-2",
      amount: { unit: "usd", offered: "$2.00" },
    };

    test("shows limit, use and who waits, and offers another amount", async () => {
      const made = await drawn(LIMIT);
      expect(made.output.text).toBe(
        [
          "  budget exceeded of process 1: limit $2.00, used $1.90, reserved $0.00, asked $0.35",
          "  by main-1 › worker-2",
          "[agent/2] raise the limit of process 1 by $2.00? [y]es / [n]o / another [a]mount ",
        ].join("\n"),
      );
      made.input.type("y");
      await expect.poll(() => made.replies).toEqual([{ answer: "yes" }]);
      await over(made);
    });

    test.each(["+", "5", "$", "a"])("%s begins an amount; Enter gives it", async (key) => {
      const made = await drawn(LIMIT);
      const first = key === "a" ? "" : key;
      made.input.type(key);
      await made.output.shows(`raise it by (2usd, 50000): ${first}`);
      made.input.type("3usd");
      made.input.type("\r");
      await expect.poll(() => made.replies).toEqual([{ answer: "yes", words: `${first}3usd` }]);
      await over(made);
    });

    test("one that is refused, or none, leaves the question", async () => {
      const made = await drawn(LIMIT, [false]);
      made.input.type("a");
      await made.output.shows("50000): ");
      made.output.clear();
      made.input.type("\r");
      await made.output.shows("? [y]es");
      expect(made.replies).toEqual([]);
      made.input.type("7");
      await made.output.shows("50000): 7");
      made.output.clear();
      made.input.type("\r");
      await made.output.shows("? [y]es");
      made.input.type("n");
      await expect.poll(() => made.replies).toEqual([{ answer: "yes", words: "7" }, { answer: "no" }]);
      await over(made);
    });
  });

  test("always shows rule and places first; a place gives it, Enter goes back", async () => {
    const made = await drawn();
    made.input.type("a");
    await made.output.shows("Esc: back ");
    expect(made.output.text).toContain(
      "  always allow bash(npm test:*)\n  keep it for: [s]ession / [u]ser settings; [e]dit the rule; Esc: back ",
    );
    made.output.clear();
    made.input.type("\r");
    await made.output.shows("? [y]es");
    expect(made.replies).toEqual([]);
    made.input.type("a");
    await made.output.shows("Esc: back ");
    made.input.type("p");
    made.input.type("u");
    await expect
      .poll(() => made.replies)
      .toEqual([{ answer: "always", rule: "bash(npm test:*)", destination: "userSettings" }]);
    await over(made);
  });

  test("always takes a narrower rule that was typed, and one that is refused leaves the question", async () => {
    const made = await drawn(EVENT, [false]);
    made.input.type("a");
    await made.output.shows("Esc: back ");
    made.input.type("e");
    await made.output.shows("rule, as narrow as you like: bash(npm test:*)");
    made.input.type("\x15");
    made.input.type("bash(npm test -u)");
    made.output.clear();
    made.input.type("\r");
    await made.output.shows("Esc: back ");
    expect(made.output.text).toContain("always allow bash(npm test -u)\n");
    made.output.clear();
    made.input.type("s");
    await made.output.shows("? [y]es");
    expect(made.replies).toEqual([{ answer: "always", rule: "bash(npm test -u)", destination: "session" }]);
    await over(made);
  });

  test("t is a no with words; given up, nothing is answered", async () => {
    const made = await drawn();
    made.input.type("t");
    await made.output.shows("no, because: ");
    made.output.clear();
    made.input.type("\x1b");
    await made.output.shows("? [y]es");
    made.input.type("t");
    await made.output.shows("no, because: ");
    made.input.type("use x\x7f");
    made.input.type("\x7f");
    made.input.type("y instead");
    made.input.type("\r");
    await expect.poll(() => made.replies.length).toBe(1);
    expect(made.replies[0]).toMatchObject({ answer: "no", words: expect.stringContaining("instead") });
    await over(made);
  });

  test("e gives other arguments", async () => {
    const made = await drawn();
    made.input.type("e");
    await made.output.shows("command: git log | sh");
    made.input.type("\x15");
    made.input.type("git log");
    made.input.type("\r");
    await expect.poll(() => made.replies).toEqual([{ answer: "yes", input: { command: "git log" } }]);
    await over(made);
  });

  test("keys typed before it was drawn answer nothing", async () => {
    const made = aDialog();
    made.dialog.ask(EVENT);
    await expect.poll(() => made.input.isRaw).toBe(true);
    made.input.type("y");
    await made.output.shows("? [y]es");
    expect(made.replies).toEqual([]);
    made.input.type("n");
    await expect.poll(() => made.replies).toEqual([{ answer: "no" }]);
    await over(made);
  });

  test("answered elsewhere while a line is typed: it closes, and says so", async () => {
    const made = await drawn();
    made.input.type("t");
    await made.output.shows("no, because: ");
    made.dialog.close({ event: "ask_closed", pid: 2, ask_id: "q1", answer: "yes" });
    await made.output.shows("(answered elsewhere: yes)\n");
    await over(made);
    expect([made.replies, made.input.isRaw]).toEqual([[], false]);
  });

  test("Ctrl-C goes to the run", async () => {
    const made = await drawn();
    made.input.type("\x03");
    await expect.poll(() => made.interrupts()).toBe(1);
    expect(made.replies).toEqual([]);
    await over(made);
  });
});

test("counts the questions that wait behind the one that is put, without those that are closed", async () => {
  const made = await drawn();
  expect(made.dialog.waiting).toBe(0);
  for (const ask_id of ["q2", "q3"]) made.dialog.ask({ ...EVENT, ask_id });
  expect(made.dialog.waiting).toBe(2);
  made.dialog.close({ event: "ask_closed", pid: 2, ask_id: "q3", answer: null });
  expect(made.dialog.waiting).toBe(1);
  await over(made);
});

test("what is typed as a question appears right after the answer of another one does not answer it", async () => {
  const made = aDialog();
  made.input.settlingMs = 250;
  // right after, however long the machine takes to draw it
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  onTestFinished(() => clock.mockRestore());
  made.dialog.ask(EVENT);
  made.dialog.ask({ ...EVENT, ask_id: "q2", text: "bash: rm -r build" });
  await made.output.shows("git log | sh? [y]es");
  made.input.emit("data", Buffer.from("y"));
  await made.output.shows("rm -r build? [y]es");
  made.input.emit("data", Buffer.from("y"));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(made.replies).toEqual([{ answer: "yes" }]);
  await over(made);
});
