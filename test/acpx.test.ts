/** `crux acp` with a real client of the protocol, acpx (its version is pinned in package.json): headless, on its own terms. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { onSharedStage, serve, serveInTurn, startModel, world } from "./harness/stage.ts";
import { CRUX, type Run } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";

onSharedStage();

const CLI = fileURLToPath(import.meta.resolve("acpx"));

/** One prompt in a session of its own. */
function exec(prompt: string, ...flags: string[]): Promise<Run> {
  const agent = `'${CRUX}' acp`;
  const argv = [
    CLI,
    "--agent",
    agent,
    "--format",
    "json",
    "--json-strict",
    "--cwd",
    world.work,
    ...flags,
    "exec",
    prompt,
  ];
  const child = spawn(process.execPath, argv, {
    cwd: world.work,
    env: world.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].on("data", (chunk: Buffer) => {
      out[stream] += chunk.toString("utf8");
    });
  return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, ...out })));
}

interface Message {
  readonly method?: string;
  readonly params?: {
    readonly update?: { readonly sessionUpdate: string; readonly content?: { readonly text?: string } };
  };
  readonly result?: { readonly stopReason?: string };
  readonly error?: { readonly code: number };
}

const linesOf = ({ stdout }: Run): Message[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Message);

const saidBy = (run: Run): string =>
  linesOf(run)
    .filter(({ params }) => params?.update?.sessionUpdate === "agent_message_chunk")
    .map(({ params }) => params?.update?.content?.text ?? "")
    .join("");

describe("acpx", () => {
  it("has its prompt answered, with the text as it came", async () => {
    await serveInTurn(text("Answered over the protocol."));
    const run = await exec("say something");
    expect(run).toMatchObject({ code: 0 });
    expect(saidBy(run)).toBe("Answered over the protocol.");
    expect(linesOf(run).at(-1)).toMatchObject({ result: { stopReason: "end_turn" } });
  });

  it("answers the questions of the gate by its own policy", async () => {
    const write = toolUse({ name: "write", input: { file_path: "made.txt", content: "made\n" } });
    await serve((request) => (request.assistantTurns === 0 ? write : text("Ended.")));
    expect(await exec("write it", "--deny-all")).toMatchObject({ signal: null });
    expect(() => world.file("made.txt")).toThrow();
    const allowed = await exec("write it", "--approve-all");
    expect(allowed).toMatchObject({ code: 0 });
    expect(world.file("made.txt")).toBe("made\n");
    const kinds = linesOf(allowed).map(({ params }) => params?.update?.sessionUpdate);
    expect(kinds).toEqual(expect.arrayContaining(["tool_call", "tool_call_update", "agent_message_chunk"]));
  });

  it("is told that no model is set up", async () => {
    await startModel({ script: text("never asked") });
    const run = await exec("say something");
    expect(run.code).not.toBe(0);
    expect(run.stdout).toContain("-32000");
  });
});
