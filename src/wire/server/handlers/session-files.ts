/** The files of a session that an editor shows: the daemon asks over the stream, the client answers by requests. */
import { Fault } from "../../../abi/errors.ts";
import { asPid } from "../../../abi/ids.ts";
import type { EditorDesk } from "../../../kernel/ports/editors.ts";
import { encodeLine } from "../../codec/ndjson.ts";
import type { ServerDeps } from "../deps.ts";
import type { Handler, Send } from "../handler.ts";

/** Until the client leaves. What is asked before the response is out waits for it. */
export const serveFiles: Handler<"session.serve_files"> = async (params, { kernel, deps, ended }) => {
  const { pid, read: reads = false, write: writes = false } = params;
  await kernel.sessions.view(asPid(pid));
  const { promise: sending, resolve } = Promise.withResolvers<Send>();
  const link = deskOf(deps).serve(asPid(pid), { reads, writes }, async (request) => {
    const send = await sending;
    return send(encodeLine({ type: "event", payload: request }));
  });
  return {
    payload: undefined,
    follow: async (send) => {
      resolve(send);
      try {
        if (!ended.aborted)
          await new Promise((left) => ended.addEventListener("abort", left, { once: true }));
      } finally {
        link.close();
      }
    },
  };
};

export const answerFile: Handler<"session.answer_file"> = async ({ id, ...answer }, { deps }) => {
  deskOf(deps).answer(id, answer);
  return { payload: undefined };
};

function deskOf({ editors }: ServerDeps): EditorDesk {
  if (editors === undefined) throw new Fault({ code: "UNAVAILABLE", message: "no editor is served here" });
  return editors;
}
