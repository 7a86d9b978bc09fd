/** Runs in a sandbox: starts the commands that are asked for on stdin, one line of JSON each, and tells of each end on stdout. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** The same as sandbox.ts sends and reads. */
interface Order {
  readonly id: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

function run({ id, argv, cwd, env }: Order): void {
  const [file = "", ...args] = argv;
  const child = spawn(file, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const tell = (code: number | null, signal: string | null, failure = ""): void => {
    const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString("utf8");
    console.log(JSON.stringify({ id, code, signal, stdout: text(out), stderr: text(err) + failure }));
  };
  child.on("error", (error) => tell(null, null, String(error)));
  child.on("close", tell);
}

for await (const line of createInterface({ input: process.stdin })) run(JSON.parse(line) as Order);
