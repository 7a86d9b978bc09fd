/** The keys of providers that the user has stored. */
import { Fault } from "../../../abi/errors.ts";
import type { CredentialDesk } from "../../../kernel/ports/credentials.ts";
import type { ServerDeps } from "../deps.ts";
import type { Handler } from "../handler.ts";

const SHOWN_CHARS = 4;

export const credentialList: Handler<"credential.list"> = async (_params, { deps }) => {
  const desk = deskOf(deps);
  const credentials = desk.list().map(([driver, { key, baseUrl }]) => ({
    driver,
    ends_with: key.slice(-SHOWN_CHARS),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
  }));
  return { payload: { credentials, file: desk.file } };
};

export const credentialSet: Handler<"credential.set"> = async ({ driver, key, base_url }, { deps }) => {
  const desk = deskOf(deps);
  const place = await desk.set(driver, { key, ...(base_url === undefined ? {} : { baseUrl: base_url }) });
  return { payload: { file: desk.file, place } };
};

export const credentialRemove: Handler<"credential.remove"> = async ({ driver }, { deps }) => ({
  payload: { removed: await deskOf(deps).remove(driver) },
});

function deskOf({ credentials }: ServerDeps): CredentialDesk {
  if (credentials !== undefined) return credentials;
  throw new Fault({ code: "UNAVAILABLE", message: "this daemon stores no keys" });
}
