/** Reads what an interrupted attempt left in the model file: the complete blocks. */
import { codeOf } from "../../abi/errors.ts";
import type { Fd } from "../../abi/ids.ts";
import type { Block, StreamEvent } from "../../abi/llm.ts";
import type { Sys } from "../../abi/sys.ts";

type TextBlock = Extract<Block, { type: "text" }>;

const READ_BYTES = 65_536;

/** Only the text blocks: the calls of an interrupted reply are not run. Empty if no attempt was in progress. */
export async function salvagedBlocks(sys: Sys, modelFd: Fd): Promise<TextBlock[]> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  try {
    for (;;) {
      const bytes = await sys.read(modelFd, READ_BYTES);
      if (bytes.byteLength === 0) break;
      parts.push(decoder.decode(bytes, { stream: true }));
    }
  } catch (error) {
    // after the remaining bytes, the read fails like the attempt itself
    if (codeOf(error) === "INTERNAL") throw error;
  }
  return wholeBlocks(parts.join("").split("\n"));
}

function wholeBlocks(lines: readonly string[]): TextBlock[] {
  const open = new Map<number, Block>();
  const whole: TextBlock[] = [];
  for (const event of lines.flatMap(eventsOf)) {
    if (event.type === "content_block_start") open.set(event.index, event.content_block);
    if (event.type !== "content_block_stop") continue;
    const block = open.get(event.index);
    if (block?.type === "text" && block.text !== "") whole.push(block);
  }
  return whole;
}

function eventsOf(line: string): StreamEvent[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as StreamEvent];
  } catch {
    return [];
  }
}
