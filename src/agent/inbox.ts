/** Messages for an agent, as its model reads them: a person's words as they are, another process's in a tag that names it. */
import { codeOf } from "../abi/errors.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import type { Message } from "../abi/mail.ts";
import type { ProgramStart, RunInput } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";

/** More wait for the next step: the model answers some before it reads on. */
export const MAX_PER_STEP = 32;

/** Those that wait now enter the sys, oldest first. Costs nothing when there are none. */
export async function readInbox(sys: Sys, { ctxId, session }: ProgramStart, client?: string): Promise<void> {
  for (let read = 0; read < MAX_PER_STEP && sys.hasMail(); read++) {
    const message = await nextMessage(sys, client);
    if (message === undefined) return;
    const text = messageText(message);
    if (text.trim() === "") continue;
    await sys.appendMessage(ctxId, "user", text);
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

/** As who follows a session is told of it. */
export function inputOf({ seq, from, client = "", data }: Message): RunInput {
  return { seq, from, client, text: new TextDecoder().decode(data) };
}

/**
 * No text can pose as a message of another process, or as a note of Crux about something of its own, which comes from the
 * process itself: the tags are escaped, whoever sent it.
 */
export function messageText({ from, to, data }: Pick<Message, "from" | "to" | "data">): string {
  const words = new TextDecoder().decode(data).replace(/<(\s*\/?\s*(?:agent-message|crux-note))/gi, "&lt;$1");
  if (from === to) return `<crux-note>${words}</crux-note>`;
  return from === PID_KERNEL ? words : `<agent-message from="pid ${from}">${words}</agent-message>`;
}
