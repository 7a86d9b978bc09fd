/**
 * `crux cat <path>`: a file of the kernel's own tree, as the user sees it. Control sequences do not reach a terminal.
 */
import { Fault } from "../../../abi/errors.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLines } from "../../screen/text/safe-text.ts";

export const cat: Command = { flags: {}, run };

const USAGE = "crux cat <path>, like /proc/7/status; crux ls / shows the tree";

async function run({ args, console, host }: Call): Promise<number> {
  const paths = args.words.map(kernelPath);
  if (paths.length === 0) throw invalid("a path is missing", USAGE);
  const client = await host.daemon.ensure();
  try {
    for (const path of paths) {
      const found = await client.request("file.read", { path });
      const bytes = Buffer.from(found.base64, "base64");
      if (console.mode === "json")
        await console.data({ ...told(bytes), path: found.path, truncated: found.truncated });
      else if (host.stdout.isTTY === true) await console.raw(forTerminal(bytes, path));
      else await console.raw(bytes);
      if (found.truncated) await console.errorLine(`! ${path}: cut after ${bytes.byteLength} bytes`);
    }
  } finally {
    client.close();
  }
  return 0;
}

export function kernelPath(word: string): string {
  if (word.startsWith("/") && !word.includes("\0")) return word;
  throw invalid(`not a path of the kernel's tree: ${word}`, USAGE);
}

function told(bytes: Buffer): { text: string } | { base64: string } {
  const text = textOf(bytes);
  return text === undefined ? { base64: bytes.toString("base64") } : { text };
}

function forTerminal(bytes: Buffer, path: string): string {
  const text = textOf(bytes);
  if (text === undefined)
    throw new Fault({ code: "INVALID", message: `${path} is not text`, hint: `crux cat ${path} > file` });
  return text === "" || text.endsWith("\n") ? safeLines(text) : `${safeLines(text)}\n`;
}

/** undefined: the bytes are not text. */
function textOf(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
