module registry

go 1.21
