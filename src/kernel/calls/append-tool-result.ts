/** AppendToolResult(cid, id, size): the one result of one tool call. */
import type { CtxId } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { MediaPart } from "../../abi/tool.ts";
import type { Call } from "../gate/call.ts";
import { redactedMessage } from "../redact/model-bound.ts";
import { journalMessage, requireOwn } from "./own-context.ts";

interface Args {
  readonly cid: CtxId;
  readonly toolCallId: string;
  readonly content: string;
  readonly isError: boolean;
  readonly media?: readonly MediaPart[];
}

export const appendToolResult: Call<Args, void> = {
  name: "AppendToolResult",
  quiet: true,
  args: ({ cid, toolCallId, content }) => ({ cid, id: toolCallId, size: Buffer.byteLength(content) }),
  run(core, self, { cid, toolCallId, content, isError, media }) {
    requireOwn(core, self, cid, "AppendToolResult");
    const result: ContextMessage = { role: "tool", content, tool_call_id: toolCallId };
    const shown = media === undefined ? {} : { media };
    const said = { ...result, ...(isError ? { is_error: true } : {}), ...shown };
    const message = redactedMessage(core, self, said);
    core.contexts.append(cid, message);
    journalMessage(core, self, cid, message, 0);
  },
};
