/** Questions in the interactive terminal: how far Esc goes, and what an editor that they lend the terminal to leaves behind. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inTurn } from "./harness/model.ts";
import { onStage, serve, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text, toolUse } from "./model-server/reply.ts";

onStage();

const READY = "% context";
const ON = "\x1b[?2004h";
const OFF = "\x1b[?2004l";
const ESC = "\x1b";
const writes = toolUse({ name: "write", input: { file_path: "a.txt", content: "one" } });

/** Keys count once a question has stood for a moment. */
async function asked(window: TerminalWindow, words: string): Promise<void> {
  await window.shows(words);
  await window.until(({ rows }) => !rows.join("\n").includes("keys go to the editor"), "takes keys");
}

it("Esc goes back from where a rule is kept, dismisses a question of the agent, and ends the run only as a no", async () => {
  const options = ["Red", "Blue"].map((label) => ({ label, description: "" }));
  const question = { question: "Which?", header: "Colour", options };
  await serve(
    inTurn(
      writes,
      toolUse({ name: "ask_user", input: { questions: [question] } }),
      text("Then none."),
      writes,
      text("never"),
    ),
  );
  await using window = new TerminalWindow(world, []);
  await window.shows(READY);
  window.type("write\r");
  await asked(window, "2 [a]lways");
  await window.shows("asks you");
  window.type("a");
  await window.shows("Esc: back");
  window.type(ESC);
  await window.until(({ rows }) => !rows.join("\n").includes("Esc: back"), "asks again");
  expect(window.rows.join("\n").split("2 [a]lways")).toHaveLength(2);
  window.type("y");
  await asked(window, "Esc dismisses");
  window.type(ESC);
  await window.shows("Then none.");
  expect(window.everything).not.toContain("interrupted");
  window.type("again\r");
  await asked(window, "2 [a]lways");
  window.type(ESC);
  await window.shows("! interrupted");
});

it("marks pastes again after an editor had the terminal, so that many lines are one message", async () => {
  await serve(inTurn(writes, text("Written."), text("Read.")));
  const editor = join(world.work, "editor.sh");
  writeFileSync(editor, `#!/bin/sh\nprintf '\\033[?2004l' >/dev/tty\nsed -i s/one/two/ "$1"\n`);
  chmodSync(editor, 0o755);
  await using window = new TerminalWindow(world, [], { env: { EDITOR: editor } });
  await window.shows(READY);
  window.type("write\r");
  await asked(window, "5 [e]dit");
  window.type("e");
  await asked(window, "1 two");
  window.type("y");
  await window.shows("Written.");
  expect(window.bytes.lastIndexOf(ON)).toBeGreaterThan(window.bytes.lastIndexOf(OFF));
  expect(world.file("a.txt")).toBe("two");
});

it("Ctrl-C twice in a row leaves; with another key between them the second one clears again", async () => {
  await serve(text("Well."));
  await using window = new TerminalWindow(world, []);
  await window.shows(READY);
  window.type("one\x03");
  await window.shows("ctrl+c again leaves");
  window.type("two\x03three");
  await window.shows("› three");
  window.type("\x03\x03");
  expect(await window.ended()).toBe(0);
});
