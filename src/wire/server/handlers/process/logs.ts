import { asPid } from "../../../../abi/ids.ts";
import type { LogPayload, WireStreamLine } from "../../../../abi/wire.ts";
import type { LogPiece } from "../../../../kernel/ports/subscription.ts";
import { noticeLine } from "../../../codec/error.ts";
import { encodeLine } from "../../../codec/ndjson.ts";
import { follow } from "../../follow.ts";
import type { Handler, Send } from "../../handler.ts";

const DEFAULT_TAIL = 200;
/** The most bytes of data in one line: far below the longest line. */
const DATA_BYTES = 256 * 1024;

/** A slow reader blocks only its own queue in the kernel, which drops and counts; `eof` has the number. */
export const processLogs: Handler<"process.logs"> = async (params, { kernel, ended, gone }) => {
  const { pid, tail = DEFAULT_TAIL, follow: isFollowed = false } = params;
  const pieces = await kernel.logs(asPid(pid), { tail, follow: isFollowed });
  // a stream that ends by itself may be read by a client that has closed its half
  const until = isFollowed ? ended : gone;
  return {
    payload: undefined,
    follow: async (send) => {
      if (!(await follow(pieces, until, (piece) => sendPiece(send, pid, piece)))) return;
      const { dropped } = pieces;
      await send(encodeLine(dropped === 0 ? { type: "eof" } : { type: "eof", payload: { dropped } }));
    },
  };
};

async function sendPiece(send: Send, pid: number, piece: LogPiece): Promise<boolean> {
  for (const payload of toPayloads(pid, piece)) {
    const line: WireStreamLine = { type: "log", payload };
    if (!(await send(encodeLine(line)))) return false;
  }
  return true;
}

function* toPayloads(pid: number, piece: LogPiece): Generator<LogPayload> {
  if ("entry" in piece) {
    const { timestampMs, level } = piece.entry;
    yield { pid, timestamp_ms: Math.floor(timestampMs), level, message: noticeLine(piece.entry) };
    return;
  }
  const { data } = piece;
  for (let at = 0; at < data.length; at += DATA_BYTES)
    yield { pid, data: { base64: Buffer.from(data.subarray(at, at + DATA_BYTES)).toString("base64") } };
}
