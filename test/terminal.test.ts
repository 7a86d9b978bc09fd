/** The interactive terminal: the real binary in a pty, and the screen that a person would see. */
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { onSharedStage, ownWorld, serve, serveInTurn, server, startModel, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { CRUX, settled } from "./harness/world.ts";
import { error, text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onSharedStage();

/** In the mode line once the session is there. */
const READY = "% context";
const count = (whole: string, part: string): number => whole.split(part).length - 1;

describe("crux at a terminal", () => {
  it("answers what is typed, in Markdown, in the scrollback, and leaves the screen to the shell", async () => {
    await serve(text("# Title\n\nSome **bold** words.\n\n```ts\nconst a = 1;\n```"));
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    window.type("hello there");
    await window.shows("› hello there");
    window.type("\r");
    await window.shows("Some bold words.");
    await window.until(({ rows }) => !rows.join("\n").includes("esc to interrupt"), "at rest");
    // the theme that is for the background which the terminal reports, then the one that was chosen, now and later
    await window.until(() => window.colourOf("const") === 179, "the code has its colours");
    expect(window.colourOf(" a =")).toBe(-1);
    window.type("\x1b]11;rgb:ffff/ffff/ffff\x07");
    await window.until(() => window.colourOf("○ default") === 242, "light");
    window.type("/theme dark-daltonized\r");
    await window.until(() => window.colourOf("○ default") === 245, "dark");
    const kept = join(world.dir, "config/crux/settings.json");
    await settled(() => existsSync(kept) && readFileSync(kept, "utf8").includes("daltonized"), Boolean);
    window.type("\x04");
    expect(await window.ended()).toBe(0);
    await window.shows("waits; crux -r 1");
    const all = window.everything;
    expect([count(all, "hello there"), count(all, "Some bold words."), count(all, READY)]).toEqual([1, 1, 0]);
    // no full redraw, and whatever was turned on is off again
    expect(window.bytes).not.toContain("\x1b[2J");
    for (const mode of ["?2004", "?1004", "?25"])
      expect(lastOf(window.bytes, mode)).toBe(mode === "?25" ? "h" : "l");
  });

  it("keeps the keys typed before it is there, Enter among them as a line break, and sends nothing", async () => {
    await serve(text("never"));
    await using window = new TerminalWindow(world, []);
    window.type("first line\rsecond line");
    await window.shows("  second line");
    expect(window.rows.join("\n")).toContain("› first line\n  second line");
    await window.shows(READY);
    window.type("\x03");
    await window.until(({ rows }) => !rows.join("\n").includes("second line"), "cleared");
    window.type("\x04");
    expect(await window.ended()).toBe(0);
    expect(server.requests).toEqual([]);
  });

  it("asks in a dialog, whose answer is no key that was typed before, and calls whoever looks elsewhere", async () => {
    await serveInTurn(toolUse({ name: "bash", input: { command: "touch made" } }), text("Done so."));
    await using window = new TerminalWindow(world, [], { env: { TERM_PROGRAM: "WezTerm" } });
    await window.shows(READY);
    window.type("\x1b[O");
    window.type("make it\r");
    await window.shows("1 [y]es");
    await window.shows("3 [n]o (Enter)");
    expect(window.bytes).toContain("\x1b]9;Crux: a question waits for you\x07");
    window.type("yes, a draft");
    await window.shows("› yes, a draft");
    await window.until(takesKeys, "the question takes keys");
    expect(existsSync(join(world.work, "made"))).toBe(false);
    window.type("1");
    await window.shows("Done so.");
    await window.shows("› yes, a draft");
    expect(existsSync(join(world.work, "made"))).toBe(true);
    await window.shows("● bash touch made");
  });

  it("says once that a call was refused, in the line of the call", async () => {
    await serveInTurn(
      toolUse({ name: "write", input: { file_path: "b.txt", content: "b" } }),
      text("As you say."),
    );
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    window.type("make it\r");
    await window.shows("1 [y]es");
    await window.until(takesKeys, "the question takes keys");
    window.type("n");
    await window.shows("As you say.");
    await window.shows("✗ write b.txt → refused");
    expect(window.everything).not.toContain("denied");
  });

  it("asks for a key where no model is set up, and after Esc shows the ways to one above the editor", async () => {
    // one that nobody finds
    await startModel({ script: () => text("never") });
    await using window = new TerminalWindow(world, []);
    await window.shows("Provider (anthropic, ");
    await window.until(takesKeys, "the form takes keys");
    window.type("\x1b");
    await window.shows("docs/models.md");
    await window.shows("interpreter");
    const all = window.everything;
    expect(all).toMatch(/No model is set up.*→ crux auth login.*\n› /s);
  });

  it("takes a key in that form, also in 40 columns: tries it, asks again, stores it, and answers with it", async () => {
    const key = "sk-test-planted-key-4711";
    const isRight = ({ headers }: ModelRequest) => JSON.stringify(headers).includes(key);
    await startModel({
      script: (request) =>
        isRight(request) ? text("It works.") : error(401, "invalid_request_error", "wrong key"),
    });
    await using window = new TerminalWindow(world, []);
    await window.shows("Provider (anthropic, ");
    await window.until(takesKeys, "the form takes keys");
    window.type("openai\rlocalhost:80\r");
    await window.shows("! not a base URL");
    window.type(`${server.openaiBaseUrl}\rsk-wrong-key\r`);
    await window.shows("✗ the key was not stored");
    await typeAnswer(window, "openai");
    window.resize(40, 24);
    await window.until(
      ({ rows }) => /gemini, ?\nxai, vllm\): openai/.test(rows.join("\n")),
      "the form, narrower",
    );
    window.type(`\r${server.openaiBaseUrl}\r\x1b[200~${key}\x1b[201~`);
    await window.shows("\nKey: ••••");
    // in one read: what follows the end of the form is for the editor
    window.type("\rhello");
    await window.shows(READY);
    await window.shows("› hello");
    window.type("\r");
    await window.shows("It works.");
    expect(window.everything).not.toContain("ANTHROPIC_API_KEY");
    expect(window.bytes).not.toContain(key);
    const kept = join(world.dir, "state/crux/credentials.json");
    expect([statSync(kept).mode & 0o777, readFileSync(kept, "utf8").includes(key)]).toEqual([0o600, true]);
  });

  it("hands an agent that is waited for to the background by ctrl-b, and tells of its end", async () => {
    ownWorld();
    const gate = Promise.withResolvers<void>();
    const isChild = ({ messages }: ModelRequest) => userTexts(messages[0]!)[0]?.startsWith("dig it") === true;
    await serve((request) => {
      if (isChild(request)) return text("Found it.").until(gate.promise);
      if (request.assistantTurns > 0)
        return text(request.rawBody.includes("<result>Found it.") ? "It was found." : "Meanwhile more.");
      return toolUse({ name: "agent", input: { description: "digs", prompt: "dig it" } });
    });
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    window.type("lead\r");
    await settled(() => server.requests.some(isChild), Boolean);
    await window.shows("● main");
    await window.shows("general-purpose  digs");
    window.type("\x1b[B\x1b[B\r");
    await window.shows("x stop");
    window.type("q");
    await window.shows("● general-purpose  digs");
    window.type("\x02");
    await window.shows("runs on as pid 2");
    await window.shows("Meanwhile more.");
    gate.resolve();
    await window.shows("It was found.");
    // as the journal knows it: it has left the table
    await window.until(
      ({ rows }) =>
        rows.some((row) => /general-purpose {2}digs {2}completed .* [1-9][\d.]*k? tokens/.test(row)),
      "what it used",
    );
  });

  it("completes the name of a file after @, which Enter does not send yet", async () => {
    await serve(text("Read."));
    world.write("src/deep/main.ts", "");
    world.write(
      "../config/crux/keys.json",
      '[{"context":"editor","keys":"alt+m","command":"send"},{"context":"x"}]',
    );
    const status =
      "cat > made.$$ && mv made.$$ status.json; printf '\\033[31mred\\033[0m \\033]0;owned\\007 line\\n'";
    world.settings({ ui: { vim: true }, statusLine: { command: status, padding: 1 } });
    world.write("other.md", "");
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    await window.shows("entry 2: no context");
    // what a program of the user's own prints, from what it is told
    await window.shows(" red \\x1b]0;owned\\x07 line");
    expect(window.bytes).not.toContain("\x1b]0;");
    expect(JSON.parse(world.file("status.json") ?? "")).toMatchObject({
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspace: { current_dir: world.work },
    });
    window.type("look at @mai");
    await window.shows("▸ @src/deep/main.ts");
    window.type("\r");
    await window.shows("› look at @src/deep/main.ts");
    await window.until(({ rows }) => !rows.join("\n").includes("▸"), "closed");
    expect(server.requests).toEqual([]);
    // the keys of vi, and one of the user's own
    window.type("now then\x1b");
    await window.shows("NORMAL");
    window.type("daw");
    await window.until(({ rows }) => !rows.join("\n").includes("then"), "a word less");
    window.type("\x1bm");
    await window.shows("Read.");
    expect(JSON.stringify(server.requests.at(-1))).toContain("look at @src/deep/main.ts now");
    // a run may have changed the settings
    world.settings({ ui: { vim: true }, statusLine: { command: "echo another line" } });
    window.type("again\x1bm");
    await window.shows("another line");
  });

  it("runs a line after ! by the user's shell, which the model reads with the next message, and esc ends one", async () => {
    await serve(text("Read."));
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    window.type("!echo one; echo two >&2; exit 3\r");
    await window.shows("  exit 3");
    window.type("!echo begun; exec sleep 1000\r");
    await window.shows("  begun");
    window.type("\x1b");
    await window.shows("exit SIGTERM");
    expect(server.requests).toEqual([]);
    window.type("what was it\r");
    await window.shows("Read.");
    const sent = userTexts(server.requests.at(-1)!.messages.at(-1)!).join("\n");
    expect(sent).toMatch(
      /<shell_line command="echo one; .*" exit="3">\n(?:one\ntwo|two\none)\n<\/shell_line>/,
    );
    expect(sent).toMatch(/exit="SIGTERM">\nbegun\n<\/shell_line>[\s\S]*what was it/);
    expect(count(window.everything, "! echo begun")).toBe(1);
  });

  it("sends a paste that is too long for a message as a file", async () => {
    await serveInTurn(text("Short enough."));
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    const lines = Array.from({ length: 4_000 }, (_, n) => `pasted line ${n} ${"x".repeat(60)}`);
    window.type(`\x1b[200~${lines.join("\n")}\x1b[201~`);
    await window.shows("[Pasted text #1 +4000 lines]");
    window.type("\r");
    await window.shows("Short enough.");
    const said = userTexts(server.requests.at(-1)!.messages.at(-1)!).join("");
    const [, path = ""] = /in the file (\/\S+)\]/.exec(said) ?? [];
    expect(readFileSync(path, "utf8")).toBe(lines.join("\n"));
    rmSync(dirname(path), { recursive: true });
  });

  it("keeps the text in the editor and shows nothing twice when the daemon is killed in mid-stream", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let asked = 0;
    await serve(() =>
      asked++ === 0 ? text("The first answer.") : text("Second. ".repeat(5)).until(gate, { afterEvents: 4 }),
    );
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    window.type("one\r");
    await window.shows("The first answer.");
    window.type("two\r");
    await window.shows("Second.");
    window.type("unsent words");
    await window.shows("› unsent words");
    process.kill(world.daemonPid ?? 0, "SIGKILL");
    await window.shows("reconnecting");
    open();
    await window.until(({ everything }) => count(everything, "Second.") === 5, "the whole answer, once");
    const all = window.everything;
    expect([count(all, "› one"), count(all, "› two"), count(all, "The first answer.")]).toEqual([1, 1, 1]);
    expect(all).toContain("› unsent words");
  });

  it("has the draft of a session again when it is opened again, in the language of the user", async () => {
    ownWorld();
    await serve(text("Yes."));
    await using first = new TerminalWindow(world, []);
    await first.shows(READY);
    first.type("one\r");
    await first.shows("Yes.");
    first.type("not sent yet");
    await first.shows("› not sent yet");
    await settled(() => existsSync(join(world.dir, "state/crux/terminal/draft-1")), Boolean);
    first.pty.kill("SIGHUP");
    await first.ended();
    await using second = new TerminalWindow(world, ["-c"], { env: { CRUX_LANG: "zh" } });
    await second.shows("› not sent yet");
    await second.shows("上下文 ");
    expect(count(second.everything, "› one")).toBe(1);
    const screen = second.rows.join("\n");
    expect(screen).toMatch(/\n· \[session\/1\] "one" \([一-龥]+, 1 条消息\)\n/);
    expect(screen).toMatch(/\n {2}○ 默认 · (?:.* · )?上下文 \d+% · (?:.* · )?shift\+tab 切换模式 · \/help\n/);
    second.type("\x03/lang");
    await second.shows("▸ /lang  终端的语言：en、zh 或 auto");
    // commands have no language of their own, and the choice outlasts the environment
    second.type(" en\r");
    await second.shows(READY);
    const file = join(world.dir, "config/crux/settings.json");
    await settled(() => existsSync(file) && readFileSync(file, "utf8").includes('"language"'), Boolean);
    second.type("\x04");
    await second.shows("waits; crux -r 1");
  });

  it("goes back to before a message, with its files, by esc esc, and to another session by /resume and crux -r", async () => {
    ownWorld();
    await serve((request) => {
      if (request.assistantTurns !== 1) return text(request.assistantTurns === 0 ? "Talked." : "Made.");
      return toolUse({ name: "write", input: { file_path: "a.txt", content: "new\n" } });
    });
    await using window = new TerminalWindow(world, ["chat", "--permission-mode", "accept_edits"]);
    await window.shows(READY);
    window.type("talk to me\r");
    await window.shows("Talked.");
    await window.until(({ rows }) => !rows.join("\n").includes("esc to interrupt"), "at rest");
    window.type("make it\r");
    await window.shows("Made.");
    await window.until(({ rows }) => !rows.join("\n").includes("esc to interrupt"), "at rest");
    expect(existsSync(join(world.work, "a.txt"))).toBe(true);
    window.type("\x1b");
    await window.shows("esc again");
    window.type("\x1b");
    await window.shows("Go back to before a message");
    window.type("\t");
    await window.shows("Go back to a step");
    await window.shows("Talked.");
    window.type("\t");
    await window.shows("Go back to before a message");
    window.type("make");
    await window.shows("removed    a.txt");
    window.type("\r");
    await window.shows("What goes back to before “make it”?");
    window.type("\x1b[B\r");
    await window.shows("[session/2]");
    expect(existsSync(join(world.work, "a.txt"))).toBe(false);
    await window.shows(READY);
    // to be said anew, or not
    const edits = (text: string) =>
      window.until(({ rows }) => rows.findLast((row) => row.startsWith("›"))?.trim() === text, `› ${text}`);
    await edits("› make it");
    window.type("\x03");
    await edits("›");
    // a session that cannot be opened leaves this one as it is
    window.type("/resume 4444\r");
    await window.shows("process not found: 4444");
    window.type("/resume\r");
    await window.shows("pid 1");
    window.type("\x1b[B\r");
    await window.shows("[session/1]");
    await window.shows("Made.");
    window.type("\x04");
    expect(await window.ended()).toBe(0);
    await using again = new TerminalWindow(world, ["-r"], { columns: 40 });
    await again.shows("Sessions of ");
    again.type("\x1b");
    expect(await again.ended()).toBe(0);
  });

  it.each([40, 200])("lets nothing of a model or a tool steer a terminal of %i columns", async (columns) => {
    const evil = "x\x1b]52;c;eA==\x07\x1b]0;owned\x07\x1b[2J\x1b[31m\u202egnp 日本語のテキスト 👍";
    world.write("evil.txt", `${evil}\n`);
    await serveInTurn(toolUse({ name: "view", input: { file_path: "evil.txt" } }), text(`${evil} end`));
    await using window = new TerminalWindow(world, [], { columns });
    const titles: string[] = [];
    window.screen.onTitleChange((title) => titles.push(title));
    await window.shows(READY);
    window.type("read it\r");
    await window.shows(" end");
    window.type("\x0f");
    await window.shows("q leave");
    // as a slow line brings it: in one piece
    window.type("/words");
    await window.shows("/words");
    window.type("\x1b");
    await window.shows("q leave");
    for (const sent of ["\x1b]52", "\x1b]0", "\x1b[31m", "\u202e"]) expect(window.bytes).not.toContain(sent);
    expect(window.rows.join("").replaceAll(" ", "")).toContain("\\x1b]52;c;eA==");
    // nor what is copied the terminal that it is pasted into
    window.type("q");
    await window.until(({ rows }) => !rows.join("\n").includes("q leave"), "back");
    window.type("/copy\r");
    await window.shows("✓ copied");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what sets the clipboard
    const [, copied = ""] = /\x1b\]52;c;([A-Za-z0-9+/=]+)\x07/.exec(window.bytes) ?? [];
    expect(Buffer.from(copied, "base64").toString()).toMatch(/^x\\x1b\]52[^\p{Cc}\u202e]* end$/u);
    expect(titles).toEqual([]);
  });

  it("sends a dumb terminal no escape byte, questions included", async () => {
    ownWorld();
    await serveInTurn(toolUse({ name: "bash", input: { command: "touch made" } }), text("**Done** so."));
    await using window = new TerminalWindow(world, [], { env: { TERM: "dumb" } });
    await window.shows("› ");
    window.type("make it\r");
    await window.shows("[y]es / [n]o");
    window.type("y\r");
    await window.shows("Done");
    await window.shows("completed");
    window.type("\x04");
    await window.shows("crux -r 1");
    expect(window.bytes).not.toContain("\x1b");
    // before the session, for its first message, and after its run
    expect(window.bytes.match(/^› /gm)).toHaveLength(3);
  });

  it("runs a shell line in line mode, which the model reads, and shows what was spent and is to do", async () => {
    ownWorld();
    await serveInTurn(text("Read it."));
    const env = { TERM: "dumb" };
    await using window = new TerminalWindow(world, [], { env });
    await window.shows("› ");
    window.type("what now\r");
    await window.shows("completed");
    window.type("!echo $((40 + 2)); until [ -e go ]; do sleep 0.1; done; echo over; exit 3\r");
    await window.until(({ rows }) => rows.includes("42"), "what it prints while it runs");
    world.write("go", "");
    await window.until(({ rows }) => rows.includes("over"), "its end");
    await window.shows("exit 3");
    window.type("/cost\r");
    await window.shows("all       1");
    window.type("/todo\r");
    await window.shows("No tasks of PID 1");
    expect(window.bytes).not.toContain("\x1b");
    expect(server.requests).toHaveLength(1);
    window.type("\x04");
    await window.shows("crux -r 1");
    await using again = new TerminalWindow(world, ["-r", "1"], { env });
    await again.shows("! echo $((40 + 2)); until");
    expect(again.everything).not.toContain("shell_line");
  });

  it("moves no cursor up in an accessible terminal, and has a word for each state", async () => {
    await serveInTurn(toolUse({ name: "bash", input: { command: "rm a.txt" } }), text("All done."));
    await using window = new TerminalWindow(world, [], { env: { CRUX_ACCESSIBLE: "1" } });
    await window.shows("›");
    window.type("go\r");
    await window.shows("[y]es");
    window.type("n");
    await window.shows("All done.");
    await window.shows("completed");
    expect(window.everything).toContain("refused");
    // neither up, nor to a place, nor the whole screen
    const moves = window.bytes
      .split("\x1b[")
      .filter((rest) => /^(?:\d*A|\d*(?:;\d*)?[Hf]|[23]?J|\?1049h)/.test(rest));
    expect(moves).toEqual([]);
  });

  it("has the whole screen where the user wants that, the editor at its bottom, and leaves the shell's as it was", async () => {
    ownWorld();
    await serve(text("Some words."));
    world.settings({ ui: { screen: "full", notify: "desktop" } });
    world.write("bin/notify-send", '#!/bin/sh\necho "$@" > "${0%/*}/../notice"\n');
    chmodSync(join(world.work, "bin/notify-send"), 0o755);
    const env = { PATH: `${join(world.work, "bin")}:${world.env.PATH ?? ""}` };
    await using window = new TerminalWindow(world, [], { env });
    await window.shows(READY);
    window.type("\x1b[Ohello\r");
    await window.shows("Some words.");
    await window.until(({ rows }) => !rows.join("\n").includes("esc to interrupt"), "at rest");
    const isAtBottom = ({ rows }: TerminalWindow) => rows.findIndex((row) => row.trimEnd() === "›") > 18;
    await window.until(isAtBottom, "the editor at the bottom");
    const notice = await settled(
      () => (existsSync(join(world.work, "notice")) ? world.file("notice") : ""),
      (words) => words.endsWith("\n"),
    );
    expect(notice).toBe("-a Crux Crux the answer is there\n");
    window.type("\x1b[5~");
    await window.shows("q leave");
    // further down than the end
    window.type("\x1b[6~");
    await window.until(({ rows: now }) => !now.join("\n").includes("q leave"), "back");
    await window.shows("Some words.");
    expect(lastOf(window.bytes, "?1049")).toBe("h");
    window.type("\x04");
    expect(await window.ended()).toBe(0);
    await window.shows("waits; crux -r 1");
    expect(lastOf(window.bytes, "?1049")).toBe("l");
    expect(window.everything).not.toContain("Some words.");
  });

  it("draws anew after a resize in mid-stream, and has the answer once", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    await serve(text("Word. ".repeat(30)).until(gate, { afterEvents: 4 }));
    await using window = new TerminalWindow(world, []);
    await window.shows(READY);
    window.type("go\r");
    await window.shows("Word.");
    window.resize(50, 20);
    await window.until(({ rows }) => rows.includes("─".repeat(49)), "drawn anew");
    open();
    await window.until(({ everything }) => count(everything, "Word.") === 30, "the whole answer, once");
    await window.until(({ rows }) => !rows.join("\n").includes("esc to interrupt"), "at rest");
    expect(window.rows.filter((row) => row.startsWith("›")).length).toBe(2);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)(
    "leaves the terminal as it was after %s, or the next crux does",
    async (signal) => {
      await serve(text("Yes."));
      const script = 'stty -g > a; "$0"; stty -g > b; "$0" version; stty -g > c; echo over; read line';
      await using window = new TerminalWindow(world, ["-c", script, CRUX], { command: "/bin/sh" });
      await window.shows(READY);
      process.kill(onlyChild(window.pty.pid), signal);
      await window.shows("over");
      const [before, after, next] = ["a", "b", "c"].map((name) => world.file(name));
      if (signal === "SIGTERM") expect(after).toBe(before);
      else expect(after).not.toBe(before);
      expect(settingsOf(next)).toEqual(settingsOf(before));
      expect(lastOf(window.bytes, "?2004")).toBe("l");
      window.type("\r");
    },
  );
});

/** The open question has been there for a moment, and no text is under way. */
const takesKeys = ({ rows }: TerminalWindow): boolean => !rows.join("\n").includes("until you pause");

/** Into the form, however soon after it asks: what went to the editor instead is taken back, and typed again after a pause. */
async function typeAnswer(window: TerminalWindow, words: string): Promise<void> {
  const isIn = (line: string, { rows }: TerminalWindow): boolean =>
    rows.some((row) => row.trimEnd().endsWith(`${line}${words}`));
  for (;;) {
    window.type(words);
    await window.until((shown) => isIn("): ", shown) || isIn("› ", shown), `${words} is typed`);
    if (isIn("): ", window)) return;
    window.type("\x15");
    await window.until((shown) => !isIn("› ", shown) && takesKeys(shown), "taken back");
  }
}

/** Whether a mode was last set (`h`) or reset (`l`). */
function lastOf(bytes: string, mode: string): string | undefined {
  const at = bytes.lastIndexOf(`\x1b[${mode}`);
  return at < 0 ? undefined : bytes[at + mode.length + 2];
}

function onlyChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
}

/** What decides how keys arrive and lines look: the local and output modes whole, and of the input modes ICRNL, IXON and IUTF8. */
function settingsOf(saved: string | undefined): readonly (string | number | undefined)[] {
  const [input = "", output, , local] = (saved ?? "").split(":");
  return [Number.parseInt(input, 16) & 0x4500, output, local?.trim()];
}
