/** An error in a Responses stream: an event of its own. Before the stream, errors are those of the chat dialect. */
import type { ApiError } from "../error.ts";
import { translateError } from "../openai/error.ts";

export function responsesErrorFrame(error: ApiError): string {
  const { message, code, type, param } = translateError(error);
  const event = { type: "error", code: code ?? type, message, param: param ?? null, sequence_number: 0 };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}
