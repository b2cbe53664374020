-- Name and version of packages, as the participant of the mirror says: replicas have no participant to ask.
CREATE TABLE offledger.packages (
  package_id text PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL
);
