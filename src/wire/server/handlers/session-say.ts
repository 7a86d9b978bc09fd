import { asPid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";
import { invalid } from "../request.ts";

/** Messages are ordered by the journal. An idle session is restored for the message. */
export const sessionSay: Handler<"session.say"> = async (params, call) => {
  const { pid, text, media, max_steps: maxSteps, client = "" } = params;
  const { kernel, gone } = call;
  if (client !== "") call.claimName(client);
  if (text.trim() === "" && media === undefined) throw invalid("payload.text: the message is empty");
  return call.repeats.once(
    "session.say",
    params,
    call,
    async (marked) => {
      const options = {
        client,
        ...(media === undefined ? {} : { media }),
        ...(maxSteps === undefined ? {} : { maxSteps }),
        ...marked,
      };
      const { seq, ahead } = await kernel.init.send(asPid(pid), Buffer.from(text), gone, options);
      return { payload: { seq, ahead } };
    },
    async ({ message = 0 }) => ({ payload: { seq: message, ahead: 0 } }),
  );
};

export const sessionWithdraw: Handler<"session.withdraw"> = async ({ pid, seq }, { kernel }) => {
  await kernel.sessions.withdraw(asPid(pid), seq);
  return { payload: undefined };
};
