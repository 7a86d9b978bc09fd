import { expect, it } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import { commandEnvironment } from "./environment.ts";

/** A name for each pattern of what children do not get. */
const NAMES =
  "NPM_TOKEN STRIPE_KEY OAUTH_SECRET DB_PASSWORD X_CREDENTIALS AWS_PROFILE AZURE_TENANT GITHUB_ACTOR GH_HOST DATABASE_URL SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY ANTHROPIC_API_KEY CRUX_TOKEN BASH_ENV LD_PRELOAD GIT_SSH_COMMAND NODE_OPTIONS PYTHONPATH PERL5OPT HTTPS_PROXY".split(
    " ",
  );

it.each(NAMES)("commandEnvironment() hands no child the planted %s", (name) => {
  const env = { [name]: "planted-0815", HOME: "/home/u", LANG: "C" };
  const owner = { pid: asPid(3), uuid: asProcUuid("00000000-0000-4000-8000-000000000003"), env };
  const given = commandEnvironment(owner, {}, "/run/s");
  expect(JSON.stringify(given)).not.toContain("planted-0815");
  expect(given).toMatchObject({ HOME: "/home/u", LANG: "C" });
});
