/** The calls that move the view of a context. Only the program of a process does, never one of its tools. */
import type { ContextMove, PinBounds, UndoBounds } from "../../abi/context.ts";
import type { CtxId } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { MoveBody, PinBody } from "../context/view.ts";
import type { Call, CallName } from "../gate/call.ts";
import { redactedText } from "../redact/model-bound.ts";
import {
  type ContextKernel,
  type ContextOwner,
  type ContextPass,
  ofItsOwn,
  requireOwn,
  requireReadable,
} from "./context.ts";

interface Viewing extends ContextKernel {
  /** The messages of a process's main context with these numbers, from its records. */
  messagesOf(proc: ContextOwner, numbers: readonly number[]): Promise<ReadonlyMap<number, ContextMessage>>;
}

type ViewCall<Name extends CallName, Args> = Call<Name, Args, Viewing, ContextOwner>;

/** CtxView(cid): which messages are in view. */
const ctxView: ViewCall<"ctxView", { cid: CtxId }> = {
  name: "CtxView",
  quiet: true,
  take: (cid) => ({ cid }),
  args: ({ cid }) => ({ cid }),
  result: ({ head }) => head,
  run(pass, { cid }) {
    requireReadable(pass, cid, "CtxView");
    return pass.core.contexts.view(cid);
  },
};

/** CtxMove(cid, from, layer, trigger): another view. Nothing is lost: the journal keeps every message. */
const ctxMove: ViewCall<"ctxMove", { cid: CtxId; move: ContextMove }> = {
  name: "CtxMove",
  take: (cid, move) => ({ cid, move }),
  args: ({ cid, move: { from, boundary } }) => ({
    cid,
    from,
    layer: boundary.layer,
    trigger: boundary.trigger,
  }),
  result: (head) => head,
  run(pass, { cid, move }) {
    requireProgram(pass, cid, "CtxMove");
    const { core, self } = pass;
    const { put } = move;
    const said = typeof put === "string" ? { ...move, put: redactedText(core, self, put) } : move;
    const head = moved(pass, cid, core.contexts.move(cid, said));
    const { pid } = self;
    if (cid === self.ctxId)
      self.tell({ event: "context.moved", pid, ...move.boundary }, core.ports.clock.mono());
    return head;
  },
};

/** CtxUndo(cid, from): the view before the present one. */
const ctxUndo: ViewCall<"ctxUndo", { cid: CtxId; from: number; bounds?: UndoBounds }> = {
  name: "CtxUndo",
  take: (cid, from, bounds) => ({ cid, from, ...(bounds === undefined ? {} : { bounds }) }),
  args: ({ cid, from }) => ({ cid, from }),
  result: (head) => head,
  async run(pass, { cid, from, bounds }) {
    requireProgram(pass, cid, "CtxUndo");
    const { core, self } = pass;
    const missing = core.contexts.missing(cid, from);
    const isRead = missing.length > 0 && cid === self.ctxId;
    const read = isRead ? await core.messagesOf(self, missing) : new Map<number, ContextMessage>();
    return moved(pass, cid, core.contexts.undo(cid, { from, bounds }, read));
  },
};

/** CtxPin(cid, n): a message that every later view keeps. */
const ctxPin: ViewCall<"ctxPin", { cid: CtxId; n: number; bounds: PinBounds }> = {
  name: "CtxPin",
  take: (cid, n, bounds) => ({ cid, n, bounds }),
  args: ({ cid, n }) => ({ cid, n }),
  run(pass, { cid, n, bounds }) {
    requireProgram(pass, cid, "CtxPin");
    pinned(pass, cid, pass.core.contexts.pin(cid, n, bounds));
  },
};

/** CtxUnpin(cid, n). */
const ctxUnpin: ViewCall<"ctxUnpin", { cid: CtxId; n: number }> = {
  name: "CtxUnpin",
  take: (cid, n) => ({ cid, n }),
  args: ({ cid, n }) => ({ cid, n }),
  run(pass, { cid, n }) {
    requireProgram(pass, cid, "CtxUnpin");
    pinned(pass, cid, pass.core.contexts.unpin(cid, n));
  },
};

function pinned({ core, self }: ContextPass, cid: CtxId, body: PinBody): void {
  core.note(self, "ctx.pin", cid === self.ctxId ? body : { ...body, cid });
}

function requireProgram(pass: ContextPass, cid: CtxId, op: string): void {
  requireOwn(pass, cid, op);
  if (pass.scope !== null) throw ofItsOwn(op, cid);
}

/** Journals the move. What the process has seen of files may have left the view. */
function moved({ core, self }: ContextPass, cid: CtxId, body: MoveBody): number {
  core.note(self, "ctx.move", cid === self.ctxId ? body : { ...body, cid });
  if (cid === self.ctxId) self.seen.epoch++;
  return core.contexts.view(cid).head;
}

export const contextViewCalls = { ctxView, ctxMove, ctxUndo, ctxPin, ctxUnpin };
