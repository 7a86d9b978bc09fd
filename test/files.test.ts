/** Files as agents see and change them, on the booted system: pictures and PDFs on the wire, what outlives a daemon, undo. */
import { linkSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pdfOf } from "../src/dev/fs/testing.ts";
import { inTurn } from "./harness/model.ts";
import { onSharedStage, ownWorld, server, serve as serveScript, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { error, text, toolUse } from "./model-server/reply.ts";
import type { DialectName } from "./model-server/request.ts";
import type { ModelServerOptions } from "./model-server/server.ts";

onSharedStage();

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const serve = (script: ModelServerOptions["script"], dialect: DialectName = "anthropic") =>
  serveScript(script, dialect);
const call = (name: string, input: object) => toolUse({ name, input });
const run = (...words: string[]) => world.crux(["--permission-mode", "accept_edits", ...words]);

describe("view", () => {
  it("puts a picture on the wire as the vendors take it, and after a restart again", async () => {
    const data = PNG.toString("base64");
    writeFileSync(join(world.work, "a.png"), PNG);
    await serve(inTurn(call("view", { file_path: "a.png" }), text("A dot."), text("Still a dot.")));
    const { stdout } = await run("--json", "look");
    const { pid } = (JSON.parse(stdout) as { data: { pid: number } }).data;
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
    const shown = () => (server.requests.at(-1)!.body.messages as { content: unknown }[]).at(2)?.content;
    expect(shown()).toMatchObject([{ type: "tool_result", content: [{ type: "text" }, image] }]);
    process.kill(world.daemonPid!, "SIGKILL");
    await world.crux(["resume", "-q", String(pid)]);
    await world.crux(["send", String(pid), "and now?"]);
    await server.waitFor(() => server.requestCount === 3);
    expect(shown()).toMatchObject([{ content: [{ type: "text" }, image] }]);
    await world.crux(["kill", String(pid)]);
  });

  it("leaves out a picture that the model refuses: the run says so, and the next message is answered", async () => {
    ownWorld();
    writeFileSync(join(world.work, "a.png"), PNG);
    const refusal = error(400, "invalid_request_error", "messages.2: could not process image </crux-note>");
    await serve((request) => {
      if (request.assistantTurns === 0) return call("view", { file_path: "a.png" });
      return request.rawBody.includes(PNG.toString("base64")) ? refusal : text("Never mind.");
    });
    const refused = await run("-q", "look");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("could not process image");
    await world.crux(["resume", "-q", "1"]);
    await world.crux(["send", "1", "and now?"]);
    await server.waitFor(() => server.requestCount === 3);
    expect(server.requests[2]?.rawBody).toMatch(
      /image removed: .*could not process image \/crux-note\]<\/crux-note>/,
    );
    await world.crux(["kill", "1"]);
  });

  it("sends a picture to the other dialect in a message of its own, and none to a model that takes none", async () => {
    writeFileSync(join(world.work, "a.png"), PNG);
    await serve(inTurn(call("view", { file_path: "a.png" }), text("Done.")), "openai");
    await run("-m", "gpt-5", "look");
    const messages = server.requests.at(-1)?.body.messages as { role: string; content: unknown }[];
    expect(messages.slice(-2)).toMatchObject([
      { role: "tool", content: expect.stringMatching(/^\[image: a\.png/) },
      {
        role: "user",
        content: [
          { type: "text" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG.toString("base64")}` } },
        ],
      },
    ]);
    await run("look");
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("Model does not support images");
    expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain("image_url");
  });

  it("gives the text of the pages of a PDF, or the document itself", async () => {
    const pdf = pdfOf(Array.from({ length: 12 }, (_, n) => `Words of page ${n + 1}`));
    writeFileSync(join(world.work, "long.pdf"), pdf);
    writeFileSync(join(world.work, "short.pdf"), pdfOf(["Hello"]));
    await serve(
      inTurn(
        call("view", { file_path: "long.pdf" }),
        call("view", { file_path: "long.pdf", pages: "11-12" }),
        call("view", { file_path: "short.pdf" }),
        text("Read."),
      ),
    );
    expect((await run("read")).code).toBe(0);
    const body = JSON.stringify(server.requests.at(-1)?.body.messages);
    expect(body).toContain("long.pdf has 12 pages: name some");
    expect(body).toContain("[page 11 of 12]\\nWords of page 11\\n[page 12 of 12]\\nWords of page 12");
    expect(body).toContain('"type":"document","source":{"type":"base64","media_type":"application/pdf"');
  });
});

describe("pictures of the user", () => {
  /** Large enough to be stored apart from its records. */
  const large = Buffer.concat([PNG, Buffer.alloc(100_000, 7)]).toString("base64");
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: large } };
  const said = (...content: object[]) =>
    `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;

  it("are shown to the model, kept once, and there again in a fork after a crash, in its words as a line", async () => {
    ownWorld();
    await serve(inTurn(text("A dot."), text("The same."), text("Still.")));
    const stdin = said({ type: "text", text: "look" }, image) + said(image);
    const args = ["-p", "--output-format", "stream-json", "--input-format", "stream-json"];
    const { code, stdout } = await world.crux(args, { stdin });
    expect(code).toBe(0);
    expect(stdout).not.toContain(large.slice(0, 100));
    const blocks = () =>
      (server.requests.at(-1)!.body.messages as { role: string; content: { type: string }[] }[])
        .filter(({ role }) => role === "user")
        .flatMap(({ content }) => content)
        .map((block) => ("cache_control" in block ? { ...block, cache_control: undefined } : block));
    const shown = [{ text: "look\n[image 1: png, 98 KB]" }, image, { text: "[image 1: png, 98 KB]" }, image];
    const found = () =>
      blocks().filter(
        ({ type, ...rest }) => type === "image" || /image 1/.test(String((rest as { text?: string }).text)),
      );
    expect(found()).toMatchObject(shown);
    process.kill(world.daemonPid!, "SIGKILL");
    const fork = (await world.crux(["fork", "-q", "1"])).stdout.trim();
    await world.crux(["resume", "-q", fork]);
    await world.crux(["send", fork, "and now?"]);
    await settled(() => server.requests.at(-1)?.rawBody.includes("and now?") === true, Boolean);
    expect(found()).toMatchObject(shown);
    const files = readdirSync(world.dir, { recursive: true, withFileTypes: true });
    const copies = files.filter((each) => each.isFile() && /blobs/.test(each.parentPath));
    const sizes = copies.map((each) => statSync(join(each.parentPath, each.name)).size);
    expect(sizes.filter((size) => size === large.length)).toHaveLength(1);
    await world.crux(["kill", fork]);
  });

  it("that the model refuses leave its view, not the words, and the next message is answered", async () => {
    ownWorld();
    const refusal = error(400, "invalid_request_error", "messages.0: could not process image");
    await serve((request) => (request.rawBody.includes(large.slice(0, 99)) ? refusal : text("Never mind.")));
    const args = ["-p", "--output-format", "stream-json", "--input-format", "stream-json"];
    const refused = await world.crux(args, { stdin: said({ type: "text", text: "look" }, image) });
    expect(refused.stdout).toContain("could not process image");
    await world.crux(["send", "1", "and now?"]);
    await settled(() => server.requests.at(-1)?.rawBody.includes("and now?") === true, Boolean);
    expect(server.requests.at(-1)?.rawBody).toMatch(
      /look\\n\[image 1: png, 98 KB\].*image removed: .*could not/,
    );
    await world.crux(["kill", "1"]);
  });
});

describe("what an agent has seen of files", () => {
  it("is known to the next daemon: an edit needs no second view; a fork knows it too, a child of its own does not", async () => {
    world.write("a.txt", "one\ntwo\n");
    // words that stand in nothing else that the agent is told
    await serve((request) => {
      const last = request.lastUserText;
      if (request.lastToolResults.length > 0) return text("Done.");
      if (last.includes("peek")) return call("view", { file_path: "a.txt" });
      if (last.includes("amend"))
        return call("edit", { file_path: "a.txt", old_string: "two", new_string: "2" });
      return text("?");
    });
    const { stdout } = await run("--json", "peek");
    const { pid } = (JSON.parse(stdout) as { data: { pid: number } }).data;
    process.kill(world.daemonPid!, "SIGKILL");
    const fork = (await world.crux(["fork", "-q", String(pid)])).stdout.trim();
    await world.crux(["resume", "-q", String(pid)]);
    await world.crux(["send", String(pid), "amend"]);
    await settled(
      () => world.file("a.txt"),
      (now) => now === "one\n2\n",
    );
    expect(world.file("a.txt")).toBe("one\n2\n");
    // the fork saw the file as it was: it knows of it, and that it has changed since
    await world.crux(["resume", "-q", fork]);
    await world.crux(["send", fork, "amend"]);
    await settled(
      () => server.requests.some(({ rawBody }) => rawBody.includes("has changed since")),
      Boolean,
    );
    expect(
      server.requests.some(({ rawBody }) => rawBody.includes("file has changed since it was read: a.txt")),
    ).toBe(true);
    await run("amend");
    expect(server.requests.at(-1)?.rawBody).toContain("file has not been read: a.txt. View it first");
    await world.crux(["kill", String(pid), fork]);
  });
});

describe("crux undo", () => {
  it("lists what would change, puts the files of the last message back, and says what it cannot", async () => {
    world.write("a.txt", "one\n");
    await serve(
      inTurn(
        call("view", { file_path: "a.txt" }),
        call("edit", { file_path: "a.txt", old_string: "one", new_string: "1" }),
        call("write", { file_path: "new.txt", content: "new\n" }),
        text("Done."),
      ),
    );
    const { stdout } = await run("--json", "change it");
    const { pid } = (JSON.parse(stdout) as { data: { pid: number } }).data;
    expect(world.file("a.txt")).toBe("1\n");
    const planned = await world.crux(["undo", String(pid), "--dry-run"]);
    expect(planned.stdout).toMatch(/^restored {3}a\.txt \+1 -1\nremoved {4}new\.txt -1\n$/);
    expect(world.file("a.txt")).toBe("1\n");
    const asked = await world.crux(["undo", String(pid)]);
    expect([asked.code, asked.stderr]).toEqual([
      1,
      expect.stringContaining("undo changes files: that is to be confirmed"),
    ]);
    const done = await world.crux(["undo", String(pid), "--yes", "--json"]);
    expect(JSON.parse(done.stdout)).toMatchObject({ data: { pid, fork: null, refused: false } });
    expect(world.file("a.txt")).toBe("one\n");
    expect(readdirSync(world.work)).toEqual(["a.txt"]);
    // again: nothing is left to do
    expect((await world.crux(["undo", String(pid), "--yes"])).stdout).toMatch(
      /^unchanged {2}a\.txt\nunchanged {2}new\.txt\n$/,
    );
    world.write("a.txt", "mine\n");
    const refused = await world.crux(["undo", String(pid), "--yes"]);
    expect([refused.code, world.file("a.txt")]).toEqual([1, "mine\n"]);
    expect(refused.stderr).toContain("changed by somebody else since");
  });
});

describe("kill -9 of the daemon while an agent writes", () => {
  it("leaves the old file or a new one, its links and mode, and after the next start nothing beside it", async () => {
    let isOver = false;
    const size = 300_000;
    const body = (n: number) => `${n % 10}`.repeat(size + n);
    world.write("a.txt", body(0));
    linkSync(join(world.work, "a.txt"), join(world.work, "b.txt"));
    await serve((request) => {
      const n = request.assistantTurns;
      if (isOver) return text("Done.");
      if (
        n === 0 ||
        request.lastToolResults.some(({ content }) => /Error|unknown|send the call/.test(String(content)))
      )
        return call("view", { file_path: "a.txt", limit: 1 });
      return call("write", { file_path: "a.txt", content: body(n) });
    });
    const args = ["-q", "-d", "--permission-mode", "bypass", "--max-steps", "200", "write"];
    const pid = Number((await world.crux(args)).stdout);
    for (let round = 0; round < 6; round++) {
      await new Promise((resolve) => setTimeout(resolve, 150 + ((round * 97) % 180)));
      process.kill(world.daemonPid!, "SIGKILL");
      const now = world.file("a.txt");
      expect(now.length).toBeGreaterThan(0);
      await world.crux(["daemon", "start", "--normal"]);
      await settled(
        () => readdirSync(world.work).length,
        (left) => left <= 3,
      );
    }
    // the history has every version in it: each further request is larger than the one before
    isOver = true;
    await world.crux(["wait", String(pid)]);
    const now = world.file("a.txt");
    expect(now).toBe((now[0] ?? "").repeat(now.length));
    expect(world.file("b.txt")).toBe(now);
    expect(statSync(join(world.work, "a.txt")).nlink).toBe(2);
    expect(readdirSync(world.work).sort()).toEqual(["a.txt", "b.txt"]);
  });
});
