-- The PostgreSQL image runs this once, on an empty volume, as superuser through the Unix socket.
-- The role of the services owns one database and nothing else.
\getenv password POSTGRES_PASSWORD
CREATE ROLE offledger LOGIN PASSWORD :'password';
CREATE DATABASE offledger OWNER offledger;
-- Without a password the superuser cannot log in over the network.
ALTER ROLE CURRENT_USER PASSWORD NULL;
