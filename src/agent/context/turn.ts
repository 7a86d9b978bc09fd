/** One request of the loop, as the layers that shorten the view know it. */
import type { Section } from "../../abi/context.ts";
import type { LlmRequest, Reply } from "../../abi/llm.ts";
import type { ModelPlace } from "../../abi/loop.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Prompt, Sys } from "../../abi/sys.ts";
import type { TurnRequest } from "../model/request.ts";
import type { TokenTarget } from "../token-target.ts";
import type { SessionNotes } from "./session-notes.ts";

export interface Turn {
  readonly sys: Sys;
  readonly start: ProgramStart;
  /** The number of the request. */
  readonly number: number;
  readonly prompt: Prompt;
  /** The prompt again, with the notes that have to be in view, after the view has moved. */
  renew(isCut: boolean): Promise<Prompt>;
  make(prompt: Prompt, mostOutput: number): TurnRequest;
  send(request: LlmRequest): Promise<Reply>;
  /** A request that is none of the conversation, also while another one is in progress. */
  aside(request: LlmRequest): Promise<Reply>;
  /** The model that is asked, and the texts of the reminder in its requests. */
  readonly model: ModelPlace;
  /** Its place among the fallbacks; 0: the model of the process. */
  readonly index: number;
  readonly sections: readonly Section[];
  /** How much the user wants the run to write. Absent, null: no target. */
  readonly target?: TokenTarget | null;
  /** Absent: none are kept. */
  readonly notes?: SessionNotes;
}
