create table if not exists notes (
  id integer generated always as identity primary key,
  title text not null unique,
  text text not null
)
