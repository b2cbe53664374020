/** As which parties a participant is read: what it answers of the token's user was recorded at Canton 3.5.10-SNAPSHOT with authentication. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/util/json.js";
import { UserParties } from "../../../src/ledger/participant/parties.js";
import { Participant } from "../../scripted-participant/participant.js";
import { type Right, Tokens } from "../../scripted-participant/tokens.js";
import { endpointAt, failureOf, serving } from "./servers.js";

const P = "pp::1220";
const Q = "qq::1220";
const USER = "r-b_user@x|1#";

/** Recorded. */
const user = {
  user: {
    id: USER,
    primaryParty: "",
    isDeactivated: false,
    metadata: { resourceVersion: "0", annotations: {} },
    identityProviderId: "",
    primaryPartyAuthentication: false,
  },
};
/** Recorded: of a user with every right. */
const rights = {
  rights: [
    { kind: { ParticipantAdmin: { value: {} } } },
    { kind: { CanActAs: { value: { party: Q } } } },
    { kind: { CanReadAs: { value: { party: P } } } },
    { kind: { CanExecuteAs: { value: { party: "executor::1220" } } } },
    { kind: { CanReadAsAnyParty: { value: {} } } },
    { kind: { IdentityProviderAdmin: { value: {} } } },
  ],
};
const without = (...kinds: readonly string[]) => ({
  rights: rights.rights.filter(({ kind }) => !kinds.includes(Object.keys(kind)[0] ?? "")),
});
const secret = (grpcCodeValue: number) => ({
  code: "NA",
  cause: "A security-sensitive error has been received",
  correlationId: "b5ce5abd0cb21eaf152b848caf4e7ff7",
  traceId: "b5ce5abd0cb21eaf152b848caf4e7ff7",
  context: {},
  resources: [],
  errorCategory: -1,
  grpcCodeValue,
  retryInfo: null,
  definiteAnswer: null,
});
/** Recorded: without authentication, with a token or without. */
const noUser = {
  code: "INVALID_TOKEN",
  cause:
    "The submitted request is missing a user-id: requests with an empty user-id are only supported if there is an authenticated user",
  correlationId: null,
  traceId: "7937c08abff783f93751ccee34e38f3c",
  context: { participant: "sandbox", definite_answer: "false", tid: "7937c08abff783f93751ccee34e38f3c", category: "8" },
  resources: [],
  errorCategory: 8,
  grpcCodeValue: 3,
  retryInfo: null,
  definiteAnswer: null,
};

type Answer = readonly [status: number, body: JsonValue];

/** A source of parties, and what the participant was asked. Answers may be changed. */
async function asking(
  answers: { user: Answer; rights: Answer },
  { lacksRegistrars = false, clock = () => 0 }: { lacksRegistrars?: boolean; clock?: () => number } = {},
) {
  const paths: string[] = [];
  const url = await serving(({ url: path = "" }, response) => {
    paths.push(path);
    const [status, body] = path.endsWith("/rights") ? answers.rights : answers.user;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  return { source: new UserParties({ endpoint: endpointAt(url), lacksRegistrars, clock }), paths };
}

describe("the rights of the token's user", () => {
  test("name the parties that it may read or act as, each once and sorted", async () => {
    const twice = without("CanReadAsAnyParty");
    twice.rights.push(
      { kind: { CanReadAs: { value: { party: Q } } } },
      { kind: { CanReadAs: { value: { party: "aa" } } } },
    );
    const { source, paths } = await asking({ user: [200, user], rights: [200, twice] });
    expect(source.known).toBeUndefined();
    expect(await source.read()).toEqual(["aa", P, Q]);
    expect(source.known).toEqual(["aa", P, Q]);
    expect(paths).toEqual(["/v2/authenticated-user", "/v2/users/r-b_user%40x%7C1%23/rights"]);
  });

  test("to read as any party is any party", async () => {
    const { source } = await asking({ user: [200, user], rights: [200, rights] });
    expect(await source.read()).toBe("any");
  });

  const grant = "grant it CanReadAs for each party whose contracts are to be served$";
  const admin = without("CanActAs", "CanReadAs", "CanReadAsAnyParty");
  const unread = "has ParticipantAdmin, CanExecuteAs, IdentityProviderAdmin, which give no reading: ";
  const ofNoParty = { rights: [{ kind: { CanActAs: { value: {} } } }] };
  const unknown =
    "^the participant knows no user of the token, as without authentication: name the parties in OFFLEDGER_LEDGER_PARTIES$";

  test.each<[string, user: Answer, rights: Answer, kind: string, sentence: string]>([
    ["without any", [200, user], [200, { rights: [] }], "no-parties", `^user r-b_user@x\\|1# has no right: ${grant}`],
    ["of administration alone", [200, user], [200, admin], "no-parties", `^user \\S+ ${unread}${grant}`],
    ["without authentication", [400, noUser], [200, {}], "no-parties", unknown],
    ["with a token that is not accepted", [401, secret(16)], [401, secret(16)], "denied", "status 401"],
    ["of a user that is deactivated or another", [200, user], [403, secret(7)], "denied", "status 403"],
    [
      "of a user without an id",
      [200, {}],
      [200, rights],
      "unreadable",
      "user cannot be read: user must be an object, but is missing$",
    ],
    ["without a list", [200, user], [200, { rights: {} }], "unreadable", "rights must be a list"],
    ["of no party", [200, user], [200, ofNoParty], "unreadable", "party must be a string, but is missing$"],
  ])("%s give none, and say why", async (_, ofUser, ofRights, kind, sentence) => {
    const { source } = await asking({ user: ofUser, rights: ofRights });
    const failure = await failureOf(source.read());
    expect([failure.kind, failure.message]).toEqual([kind, expect.stringMatching(new RegExp(sentence))]);
    expect(source.known).toBeUndefined();
  });

  test("to read as any party do not tell our registrars from others where a signature has to be ours", async () => {
    const answers: { user: Answer; rights: Answer } = { user: [200, user], rights: [200, rights] };
    const { source } = await asking(answers, { lacksRegistrars: true });
    const { kind, message } = await failureOf(source.read());
    expect([kind, message]).toEqual(["no-parties", expect.stringContaining("set OFFLEDGER_REGISTRARS")]);
    answers.rights = [200, without("CanReadAsAnyParty")];
    expect(await source.read()).toEqual([P, Q]);
  });
});

describe("a look-up", () => {
  test("asks once in 30 s, and keeps what is known when the participant fails, but not when there is no party left", async () => {
    const answers: { user: Answer; rights: Answer } = {
      user: [200, user],
      rights: [200, without("CanReadAsAnyParty")],
    };
    let now = 0;
    const { source, paths } = await asking(answers, { clock: () => now });
    const asked = async () => {
      const before = paths.length;
      const parties = await Promise.all([source.current(), source.current(), source.read()]);
      return [parties, paths.length - before];
    };
    const both = [P, Q];
    expect(await asked()).toEqual([[both, both, both], 2]);
    now += 29_999;
    expect([await source.current(), paths.length]).toEqual([both, 2]);
    now += 1;
    answers.user = [503, {}];
    expect([await source.current(), paths.length]).toEqual([both, 3]);
    // Nor is a participant that fails asked by each request.
    expect([await source.current(), paths.length]).toEqual([both, 3]);
    now += 30_000;
    answers.user = [200, user];
    answers.rights = [200, without("CanReadAsAnyParty", "CanReadAs")];
    expect(await source.current()).toEqual([Q]);
    now += 30_000;
    answers.rights = [200, { rights: [] }];
    expect((await failureOf(source.current())).kind).toBe("no-parties");
    expect(source.known).toBeUndefined();
    now += 30_000;
    answers.user = [503, {}];
    expect((await failureOf(source.current())).kind).toBe("busy");
  });
});

describe("the scripted participant answers as the recorded one", () => {
  const typed = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(typed);
    if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typed(one)]));
  };
  /** Ids and times differ. The name of the participant is quoted sometimes. */
  const answerOf = async (url: string, path: string, token?: string) => {
    const response = await fetch(url + path, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    const body = (await response.json()) as JsonObject;
    return { status: response.status, body, typed: typed(body) };
  };

  test("with authentication", async () => {
    const tokens = new Tokens();
    const all = rights.rights.map(({ kind }): Right => {
      const [[name, given] = [""]] = Object.entries(kind as Record<string, { value: { party?: string } }>);
      return given?.value.party === undefined ? [name] : [name, given.value.party];
    });
    const [token, poor] = [tokens.issue({ rights: all }), tokens.issue({ rights: [] })];
    const url = await participantWith({ tokens });
    const own = await answerOf(url, "/v2/authenticated-user", token);
    expect([own.status, own.typed]).toEqual([200, typed(user)]);
    const { id } = own.body.user as { id: string };
    const path = `/v2/users/${encodeURIComponent(id)}/rights`;
    expect((await answerOf(url, path, token)).body).toEqual(rights);
    expect((await answerOf(url, path, poor)).body).toEqual({ rights: [] });
    for (const [asked, of, status, code] of [
      ["/v2/authenticated-user", undefined, 401, 16],
      [path, undefined, 401, 16],
      ["/v2/users/participant_admin/rights", poor, 403, 7],
      ["/v2/users/nobody/rights", poor, 403, 7],
    ] as const) {
      const refused = await answerOf(url, asked, of);
      expect([refused.status, refused.typed, refused.body.grpcCodeValue]).toEqual([status, typed(secret(code)), code]);
    }
    const unknown = await answerOf(url, "/v2/users/nobody/rights", token);
    expect([unknown.status, unknown.body.code]).toEqual([404, "USER_NOT_FOUND"]);
  });

  test("without", async () => {
    const url = await participantWith({});
    for (const token of [undefined, "abc"]) {
      const { status, body, typed: types } = await answerOf(url, "/v2/authenticated-user", token);
      expect([status, types, body.code, body.cause]).toEqual([400, typed(noUser), noUser.code, noUser.cause]);
    }
  });
});

async function participantWith(options: { readonly tokens?: Tokens }): Promise<string> {
  const participant = await Participant.start(options);
  onTestFinished(() => participant.stop());
  return participant.url;
}
