import { Fault } from "../../../abi/errors.ts";
import type { Handler } from "../handler.ts";

export const auth: Handler<"auth"> = async ({ cookie }, { prove }) => {
  const principal = prove(cookie);
  if (principal !== undefined) return { payload: { principal } };
  throw new Fault({
    code: "PERMISSION",
    message: "not the cookie of this daemon",
    hint: "read crux.cookie beside the socket again: each start of the daemon makes a new one",
  });
};
