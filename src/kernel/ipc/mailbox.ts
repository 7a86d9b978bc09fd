/** The messages for one process, oldest first. Bounded; a full one refuses. Made on first use. */
import type { Message } from "../../abi/mail.ts";

export class Mailbox {
  /** Room for a message that is being journalled; UNAVAILABLE when there is none. Call what it returns if it was not stored. */
  claim(_bytes: number): () => void {
    throw new Error("to be written");
  }
  /** Within a claim. */
  put(_message: Message): void {
    throw new Error("to be written");
  }
  /** The oldest; waits for one. Rejects CANCELLED when the box is closed. */
  take(_signal: AbortSignal): Promise<Message> {
    throw new Error("to be written");
  }
  tryTake(): Message | undefined {
    throw new Error("to be written");
  }
  get size(): number {
    return 0;
  }
  close(): void {}
}
