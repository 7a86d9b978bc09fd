import { describe, expect, it } from "vitest";
import { asPid } from "../../abi/ids.ts";
import type { Block, WireMessage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { contractRequest, driverContract, type RigBlock, type RigReply } from "../contract.ts";
import { fold, NO_USAGE } from "../fold.ts";
import { parseIntent } from "./intent.ts";
import { InterpreterDriver } from "./interpreter.ts";

const caller = { pid: asPid(7) };

driverContract({
  name: "interpreter",
  stops: ["end_turn"],
  errors: [{ kind: "invalid", status: 400 }],
  can: { thinking: true, retryAfter: false, interleave: true, countsNothing: true },
  serve: async ([reply]) => ({
    driver: new InterpreterDriver(caller, (_request, signal) => said(reply!, signal)),
    quiet: async () => {},
    close: async () => {},
  }),
});

async function* said({ blocks, error, ending }: RigReply, signal: AbortSignal): AsyncGenerator<Block> {
  if (error !== undefined)
    throw new LlmError({ kind: error.kind, device: "/dev/llm/interpreter", message: "no" });
  for (const [at, block] of blocks.entries()) {
    if (ending?.afterBlocks === at) {
      signal.throwIfAborted();
      if (ending.do === "stall")
        await new Promise((_resolve, reject) => signal.addEventListener("abort", reject, { once: true }));
      throw new LlmError({ kind: "stream_malformed", message: "cut" });
    }
    yield blockOf(block, at);
  }
}

function blockOf(block: RigBlock, at: number): Block {
  switch (block.type) {
    case "text":
      return block;
    case "thinking":
      return { ...block, signature: "s" };
    case "tool_use":
      return { type: "tool_use", id: `c${at}`, name: block.name, input: inputOf(block.json) };
  }
}

function inputOf(json: string): unknown {
  if (json === "") return {};
  try {
    return JSON.parse(json);
  } catch {
    return { __malformed_json: json };
  }
}

const count = (unit: string, path = "", glob = "") => ({ kind: "count", unit, path, glob });
const list = (path = "", glob = "") => ({ kind: "list", path, glob });

describe("parseIntent()", () => {
  it.each([
    ["count the lines of every file here and write them to LINES.md", count("lines"), "LINES.md"],
    ["Count the words in all files, then save the result in 'my words.txt'.", count("words"), "my words.txt"],
    [
      "count the lines of every .ts file in src/a b and write it to out/n.md",
      count("lines", "src/a b", "*.ts"),
      "out/n.md",
    ],
    ["write the line counts of every file to L.txt", count("lines"), "L.txt"],
    ["write the number of files in docs to n.txt", count("files", "docs"), "n.txt"],
    [
      "please count the lines of every file in this folder and put them into LINES.md",
      count("lines"),
      "LINES.md",
    ],
    ["统计这里每个文件的行数，并写入 LINES.md", count("lines"), "LINES.md"],
    ["统计 src 里所有文件的行数，保存到 行数.md", count("lines", "src"), "行数.md"],
  ])("takes %j as a task whose result is written", (text, task, into) => {
    expect(parseIntent(text, false)).toEqual({ task, into });
  });

  it.each([
    ["how many lines are in README.md?", count("lines", "README.md")],
    ["how many lines has README.md?", count("lines", "README.md")],
    ["count the lines in README.md and LICENSE", count("lines", "", "{README.md,LICENSE}")],
    [
      "count the words of src/a.ts, src/b.ts and Makefile",
      count("words", "", "{src/a.ts,src/b.ts,Makefile}"),
    ],
    ["统计 README.md 和 LICENSE 的行数", count("lines", "", "{README.md,LICENSE}")],
    ["how many words does docs/a b.md have?", count("words", "docs/a b.md")],
    ["how many lines does each file have", count("lines")],
    ["how many files does the src folder contain", count("files", "src")],
    ["how many files does this project have?", count("files")],
    ["how many files are there", count("files")],
    ["count the files", count("files")],
    ['count words in "a b/c.txt"', count("words", "a b/c.txt")],
    ["list the files", list()],
    ["list all .md files in docs", list("docs", "*.md")],
    ["ls", list()],
    ["what is here?", list()],
    ["what files are in the src folder?", list("src")],
    ["find files named *.test.ts", list("", "*.test.ts")],
    ["列出文件", list()],
    ["show README.md", { kind: "show", path: "README.md" }],
    ["show me the file my notes.txt", { kind: "show", path: "my notes.txt" }],
    ["显示 README.md 的内容", { kind: "show", path: "README.md" }],
    ['show me the files in "a b"', list("a b")],
    ["find TODO in src", { kind: "search", text: "TODO", path: "src" }],
    ['search for "the end"', { kind: "search", text: "the end", path: "" }],
    ["搜索 TODO", { kind: "search", text: "TODO", path: "" }],
  ])("takes %j as a task", (text, task) => {
    expect(parseIntent(text, false)).toEqual({ task });
  });

  it.each([
    ["write 'buy milk' to note.txt", "buy milk", "note.txt"],
    ["create a file called a.txt with the text hello there", "hello there", "a.txt"],
    ["create notes.md containing: one two", "one two", "notes.md"],
    ["新建文件 a.txt，内容为 你好", "你好", "a.txt"],
  ])("takes %j as a text to be written", (text, content, into) => {
    expect(parseIntent(text, false)).toEqual({ task: { kind: "note", text: content }, into });
  });

  it.each([
    ["count the lines", "lines"],
    ["sum the numbers", "sum"],
    ["number the lines", "number"],
    ["sort it", "sort"],
  ])("takes %j with data as work on the data", (text, edit) => {
    expect(parseIntent(text, true)).toEqual({ task: { kind: "data", edit } });
  });

  it.each([
    "make me a sandwich",
    "fix the failing test",
    "write a poem about files to poem.txt",
    "",
    "delete everything",
    "list the files and delete them",
    "count the lines, then push",
    "hello",
    "find out why the build is slow and fix the worst of it",
    "what does this folder do",
    "list the reasons why there are failing tests here",
    "explain what this project does",
  ])("does not understand %j", (text) => expect(parseIntent(text, false)).toBeUndefined());
});

type Tools = (name: string, input: Record<string, unknown>) => { content: string; is_error?: boolean };

async function converse(texts: readonly string[], tools: Tools, onStep = () => {}) {
  const messages: WireMessage[] = [{ role: "user", content: texts.map((text) => ({ type: "text", text })) }];
  const driver = new InterpreterDriver(caller);
  for (;;) {
    onStep();
    const request = contractRequest({ messages: [...messages] });
    const { blocks, usage } = await fold(driver.stream(request, new AbortController().signal));
    expect(usage).toEqual(NO_USAGE);
    const calls = blocks.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
    messages.push({ role: "assistant", content: blocks });
    messages.push({
      role: "user",
      content: calls.map(({ id, name, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        ...tools(name, input as Record<string, unknown>),
      })),
    });
  }
}

describe("the interpreter", () => {
  it("counts over pages, leaves its own file out, and replaces one only after viewing it", async () => {
    const made: string[] = [];
    let viewed = false;
    const end = await converse(
      ["count the lines of every file here and write them to L.md"],
      (name, input) => {
        made.push(name);
        if (name === "glob") return { content: "b.txt\na b.txt\nL.md\nempty" };
        if (name === "grep" && input.offset === undefined)
          return { content: "L.md:9\nb.txt:3\n[lines 0-1 of 3; continue with offset=2]" };
        if (name === "grep") return { content: "a b.txt:4\n[lines 400-400 of 401]" };
        if (name === "view") {
          viewed = true;
          return { content: "old" };
        }
        if (!viewed)
          return { content: "Error [INVALID]: file has not been read: L.md. View it first", is_error: true };
        expect(input.content).toContain("| a b.txt | 4 |\n| b.txt | 3 |\n| empty | – |\n\n3 files, 7 lines");
        return { content: "Updated L.md" };
      },
    );
    expect(made).toEqual(["glob", "grep", "grep", "write", "view", "write"]);
    expect(end).toMatch(/^L\.md is written: 3 files, 7 lines\.\n\n {2}crux undo 7 /);
    const columns = (end.split("\n\n").at(-1) ?? "").split("\n").map((line) => line.search(/(?<= {3})\S/));
    expect(new Set(columns)).toEqual(new Set([18]));
  });

  it("finds every file of a large folder, page by page, in few steps", async () => {
    const all = Array.from({ length: 3_907 }, (_, at) => `src/${String(at).padStart(4, "0")}.ts`);
    const lines = new Set([all[0], all[1_000], all.at(-1)].map((name) => `${name}:7`));
    const rows = { glob: all, grep: all.map((name) => (lines.has(`${name}:7`) ? `${name}:7` : `${name}:1`)) };
    let steps = 0;
    const tools: Tools = (name, { offset: from, limit, head_limit: most }) => {
      const [offset, of] = [Number(from ?? 0), rows[name as "glob" | "grep"]];
      const end = Math.min(of.length, offset + Number(limit ?? most));
      const lead =
        name === "glob"
          ? `… ${of.length - end} more; narrow the pattern, or`
          : `lines ${offset}-${end - 1} of ${of.length};`;
      const note = end < of.length ? [`[${lead} continue with offset=${end}]`] : [];
      return { content: [...of.slice(offset, end), ...note].join("\n") };
    };
    const end = await converse(["count the lines of every file"], tools, () => steps++);
    expect(end.split("\n").at(-1)).toBe("3907 files, 3925 lines");
    expect(end.split("\n")).toHaveLength(3_908);
    expect(steps).toBe(5);
  });

  it.each([
    "[truncated: 8000 of 120000 characters. All of it: view /var/out/c]",
    "[the search took too long …]",
  ])("counts nothing where a search is cut for good: %s", async (note) => {
    const counting = converse(["count the files"], () => ({ content: `a\n${note}` }));
    await expect(counting).rejects.toThrow("there is too much here for one search");
  });

  it("reads files page by page to count words", async () => {
    const end = await converse(["count the words of every file"], (name, input) => {
      if (name === "glob") return { content: "a\nbin" };
      if (input.file_path === "bin") return { content: "Error [INVALID]: binary file: bin", is_error: true };
      return input.offset === 0
        ? { content: "one two\n[lines 0-0 of 2; continue with offset=1]" }
        : { content: "three\n[lines 1-1 of 2]" };
    });
    expect(end).toBe("3  a\n–  bin\n2 files, 3 words\n–: empty, or not text");
  });

  it("reads again what the conversation has had already", async () => {
    let views = 0;
    const end = await converse(["count the words of every file"], (name) => {
      if (name === "glob") return { content: "a" };
      return { content: views++ === 0 ? "[unchanged since it was last viewed: a]" : "one two" };
    });
    expect(end).toBe("2  a\n1 file, 2 words");
    expect(views).toBe(2);
  });

  it("takes a name with an ending for a file where there is one, and for a folder where there is none", async () => {
    const made: string[] = [];
    const tools: Tools = (name, { path, pattern, file_path: file }) => {
      made.push(`${name} ${file ?? `${path}:${pattern}`}`);
      if (name === "view") return { content: "one\ntwo" };
      return { content: pattern === "./R.md" && path === "docs/" ? "docs/R.md" : "v1.d/a.txt" };
    };
    expect(await converse(["count the lines in docs/R.md"], tools)).toBe("2  docs/R.md\n1 file, 2 lines");
    expect(await converse(["list the files in v1.d"], tools)).toBe("v1.d/a.txt");
    expect(made).toEqual(["glob docs/:./R.md", "view docs/R.md", "glob :./v1.d", "glob v1.d:**/*"]);
  });

  it("works on data, and passes a refused write on as a failure", async () => {
    const none: Tools = () => {
      throw new Error("no call is needed");
    };
    expect(await converse(["sum the numbers", "0.1\n0.2\n3\n"], none)).toBe("3.3");
    expect(await converse(["number the lines", "a\nb\n"], none)).toBe("1. a\n2. b");
    expect(await converse(["count the lines", "a\nb"], none)).toBe("2");
    const refused: Tools = () => ({
      content: "Error [PERMISSION]: Permission denied: --allow",
      is_error: true,
    });
    await expect(converse(["write 'x' to y"], refused)).rejects.toThrow(
      "y was not written: Error [PERMISSION]: Permission denied: --allow",
    );
  });

  it("says what it can where it does not understand, and takes the next message of a session", async () => {
    await expect(converse(["sing"], () => ({ content: "" }))).rejects.toMatchObject({
      message: expect.stringContaining('crux "list the files in src"'),
      hint: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    await expect(converse(["write hello to a.txt"], () => ({ content: "" }))).rejects.toMatchObject({
      message: expect.stringMatching(/\nto write just these words: crux "write 'hello' to a\.txt"$/),
    });
    expect(await converse(["sing", "list the files"], () => ({ content: "a\nb" }))).toBe("a\nb");
  });
});
