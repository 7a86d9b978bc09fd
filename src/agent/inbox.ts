/** Messages as the model reads them: the user's text unchanged, that of another process in a tag that names its pid. */
import { agentMessage, unframed } from "../abi/child.ts";
import { codeOf } from "../abi/errors.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import type { Message } from "../abi/mail.ts";
import type { ProgramStart, RunInput } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";

/** Messages read before one step; the rest wait for the next, so that the model answers some before it reads more. */
export const MAX_PER_STEP = 32;

/** `took`: called with each message before it enters the context. */
interface Reading {
  readonly client?: string | undefined;
  readonly took?: (input: RunInput) => void;
}

/** Moves the queued messages into the context, oldest first. */
export async function readInbox(
  sys: Sys,
  { ctxId, session }: ProgramStart,
  { client, took }: Reading = {},
): Promise<void> {
  for (let read = 0; read < MAX_PER_STEP && sys.hasMail(); read++) {
    const message = await nextMessage(sys, client);
    if (message === undefined) return;
    const text = messageText(message);
    if (text.trim() === "") continue;
    took?.(inputOf(message));
    await sys.appendMessage(ctxId, "user", text, undefined, message.media);
    if (session !== null) sys.joinRun(inputOf(message));
  }
}

/** undefined: another thread of this process took it. */
async function nextMessage(sys: Sys, client: string | undefined): Promise<Message | undefined> {
  const whose = client === undefined ? {} : { client };
  try {
    return await sys.recv({ timeoutMs: 0, ...whose }, sys.ending);
  } catch (error) {
    if (codeOf(error) === "TIMEOUT") return undefined;
    throw error;
  }
}

/** The message in the form that the clients of a session receive. */
export function inputOf({ seq, from, client = "", data, maxSteps }: Message): RunInput {
  const most = maxSteps === undefined ? {} : { maxSteps };
  return { seq, from, client, text: new TextDecoder().decode(data), ...most };
}

/**
 * The text of a message for the model. The tags are escaped in every text, so that none can pose as a message of
 * another process, or as a note of Crux (a message from the process to itself).
 */
export function messageText({
  from,
  to,
  data,
  notice,
}: Pick<Message, "from" | "to" | "data" | "notice">): string {
  const text = new TextDecoder().decode(data);
  // the kernel has made it, and escaped what others have said in it
  if (notice !== undefined) return text;
  if (from === to) return `<crux-note>${unframed(text)}</crux-note>`;
  return from === PID_KERNEL ? unframed(text) : agentMessage(from, text);
}
