-- Run once by the image of PostgreSQL, on an empty volume, as its superuser and by its socket.
-- The services get a role that owns one database and nothing else.
\getenv password POSTGRES_PASSWORD
CREATE ROLE offledger LOGIN PASSWORD :'password';
CREATE DATABASE offledger OWNER offledger;
-- From now on nobody logs in as superuser over the network: there is no password to do it with.
ALTER ROLE CURRENT_USER PASSWORD NULL;
