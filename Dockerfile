# Talus on Debian 12: see docs/installing.md. Building needs a network (Debian's packages, npm).
FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates make
COPY . /src
RUN make -C /src install PREFIX=/usr/local && rm -rf /src/build /src/viewer/node_modules
WORKDIR /data
ENTRYPOINT ["talus"]
CMD ["help"]
