import { asPid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";
import { invalid } from "../request.ts";

/** Its order is that of the journal. A session that rests comes back for it. */
export const sessionSay: Handler<"session.say"> = async ({ pid, text, client = "" }, call) => {
  const { kernel, gone } = call;
  if (client !== "") call.claimName(client);
  if (text.trim() === "") throw invalid("payload.text: the message is empty");
  const { seq, ahead } = await kernel.init.send(asPid(pid), Buffer.from(text), gone, { client });
  return { payload: { seq, ahead } };
};

export const sessionWithdraw: Handler<"session.withdraw"> = async ({ pid, seq }, { kernel }) => {
  await kernel.sessions.withdraw(asPid(pid), seq);
  return { payload: undefined };
};
