/** The program behind /dev/llm/claude: its path and the version it reports. If it is missing, nothing is started. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

const ANSWER_MS = 2000;
const MAX_OUTPUT = 64 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/** The version of `claude` on PATH; undefined if it is missing or does not answer in time. */
export async function findClaudeVersion(env: Environment): Promise<string | undefined> {
  const path = findOnPath("claude", env.PATH ?? "");
  if (path === undefined) return undefined;
  const output = await outputOf(path, ["--version"], env);
  return /\d+\.\d+\.\d+[-+.\w]*/.exec(output)?.[0];
}

function findOnPath(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The standard output of a program; "" if it fails. At the time limit its whole process group is killed. */
function outputOf(path: string, args: readonly string[], env: Environment): Promise<string> {
  return new Promise((resolve) => {
    const chunks: string[] = [];
    let length = 0;
    // loaded here: where there is no such program, it is not needed
    const { spawn } = process.getBuiltinModule("node:child_process");
    const child = spawn(path, args, { env: { ...env }, detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const finish = (output: string): void => {
      clearTimeout(limit);
      child.stdout.destroy();
      endGroup(child.pid);
      resolve(output);
    };
    const limit = setTimeout(() => finish(""), ANSWER_MS);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      length += chunk.length;
      if (length <= MAX_OUTPUT) chunks.push(chunk);
    });
    child.on("error", () => finish(""));
    // not `exit`: output may still be in the pipe
    child.on("close", (code) => finish(code === 0 ? chunks.join("") : ""));
  });
}

function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // the program and all its children have ended
  }
}
